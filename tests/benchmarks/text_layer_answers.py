"""Hand-written answers for `text_layer.py`: 25 topics in eight forms, each with one fault to plant.

A topic has an English and a Chinese passage. An answer is right by its passage; replacing `old` by `new` plants the
fault. The topics of the second half were not looked at while the rules were tuned.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import NamedTuple

FORMS = ("prose", "bullets", "numbered", "table", "code", "short facts", "Chinese", "typeset numbers")


class Topic(NamedTuple):
    """Passages, and for each form the right answer with the words to replace and their replacement."""

    name: str
    passage: str
    chinese: str
    answers: tuple[tuple[str, str, str], ...]


TOPICS = (
    Topic(
        "gold card",
        "The Gold card has an annual fee of $99. Cash withdrawals abroad cost 2.5 % with a minimum of $5. The card is not available to customers under 18. Travel insurance covers trips of up to 45 days.",
        "金卡年费为99美元。境外取现收取2.5%的费用，最低5美元。18岁以下的客户不能申请该卡。旅行保险最多承保45天的行程。",
        (
            (
                "The Gold card has an annual fee of $99, and travel insurance covers trips of up to 45 days.",
                "$99",
                "$89",
            ),
            (
                "The Gold card:\n\n* Annual fee of $99\n* Cash withdrawals abroad cost 2.5 %\n* Not available to customers under 18",
                "Not available",
                "Available",
            ),
            (
                "1. The annual fee is $99.\n2. Cash withdrawals abroad cost 2.5 % with a minimum of $5.\n3. Travel insurance covers trips of up to 45 days.",
                "up to 45 days",
                "up to 45 weeks",
            ),
            (
                "| Item | Amount |\n|---|---|\n| Annual fee | $99 |\n| Cash withdrawals abroad | 2.5 % |",
                "$99",
                "€99",
            ),
            (
                "The settings of the Gold card:\n\n```\nannual fee = $99\nminimum = $5\n```",
                "minimum = $5",
                "minimum = $15",
            ),
            ("Fee: $99.\nMinimum: $5.\nInsurance: 45 days.", "45 days", "54 days"),
            ("金卡年费为99美元。境外取现收取2.5%的费用。", "99美元", "69美元"),
            (
                "The annual fee is $\u202f99, and withdrawals abroad cost 2.5\u202f%.",
                "2.5\u202f%",
                "5.2\u202f%",
            ),
        ),
    ),
    Topic(
        "bridge",
        "The Karl bridge was opened on 12 May 1894. It is 346 metres long and carries two lanes and a tram line. Lorries over 12 tonnes are banned. The bridge was designed by Anna Lind.",
        "卡尔大桥于1894年5月12日通车。桥长346米，有两条车道和一条电车线。禁止12吨以上的卡车通行。大桥由安娜·林德设计。",
        (
            (
                "The Karl bridge was opened on 12 May 1894 and was designed by Anna Lind.",
                "Anna Lind",
                "Peter Vogel",
            ),
            (
                "- It is 346 metres long.\n- It carries two lanes and a tram line.\n- Lorries over 12 tonnes are banned.",
                "It carries two lanes and a tram line.",
                "It was destroyed by a flood and rebuilt in stone.",
            ),
            (
                "1) Opened on 12 May 1894\n2) 346 metres long\n3) Designed by Anna Lind",
                "12 May 1894",
                "5 December 1894",
            ),
            (
                "| Property | Value |\n| --- | --- |\n| Length | 346 metres |\n| Opened | 12 May 1894 |",
                "346 metres",
                "364 metres",
            ),
            ("```yaml\nlength: 346 metres\nlanes: two\nopened: 1894-05-12\n```", "1894-05-12", "1894-12-05"),
            ("Length: 346 metres.\nLanes: two.\nLimit: 12 tonnes.", "12 tonnes", "20 tonnes"),
            ("桥长346米，有两条车道和一条电车线。禁止12吨以上的卡车通行。", "346米", "436米"),
            (
                "The bridge is 346\u00a0metres long; lorries over 12\u2009tonnes are banned.",
                "346\u00a0metres",
                "346\u00a0feet",
            ),
        ),
    ),
    Topic(
        "oven",
        "Preheat the oven to 180 °C. Bake the bread for 35 minutes without opening the door. Let it cool on a rack for one hour. The dough needs 500 g of flour and 7 g of salt.",
        "将烤箱预热至180摄氏度。面包烘烤35分钟，期间不要打开烤箱门。在架子上冷却一小时。面团需要500克面粉和7克盐。",
        (
            (
                "Preheat the oven to 180 °C and bake the bread for 35 minutes without opening the door.",
                "180 °C",
                "180 °F",
            ),
            (
                "* Preheat the oven to 180 °C\n* Bake the bread for 35 minutes\n* Let it cool on a rack",
                "Let it cool on a rack",
                "Brush it with melted butter",
            ),
            (
                "Step 1: Preheat the oven to 180 °C.\nStep 2: Bake the bread for 35 minutes.\nStep 3: Let it cool on a rack for one hour.",
                "35 minutes",
                "53 minutes",
            ),
            ("| Ingredient | Amount |\n|---|---|\n| flour | 500 g |\n| salt | 7 g |", "500 g", "500 kg"),
            ("```\noven = 180 °C\nflour = 500 g\nsalt = 7 g\n```", "salt = 7 g", "salt = 70 g"),
            ("Flour: 500 g.\nSalt: 7 g.\nTime: 35 minutes.", "500 g", "5000 g"),
            ("将烤箱预热至180摄氏度。面包烘烤35分钟。", "35分钟", "25分钟"),
            (
                "Bake at 180\u202f°C for 35\u202fminutes; the dough needs 500\u00a0g of flour.",
                "35\u202fminutes",
                "35\u202fhours",
            ),
        ),
    ),
    Topic(
        "library",
        "The library is open from 9:00 to 18:00, Monday to Friday. It is closed on Sundays. Members may borrow six books for 28 days. A late book costs 0.20 EUR per day.",
        "图书馆周一至周五9:00至18:00开放。周日闭馆。会员可借六本书，期限28天。逾期每天收取0.20欧元。",
        (
            (
                "The library is open from 9:00 to 18:00, Monday to Friday, and it is closed on Sundays.",
                "closed on Sundays",
                "open on Sundays",
            ),
            (
                "* Open from 9:00 to 18:00\n* Members may borrow six books for 28 days\n* A late book costs 0.20 EUR per day",
                "18:00",
                "20:00",
            ),
            (
                "1. Open from 9:00 to 18:00.\n2. Closed on Sundays.\n3. Members may borrow six books.",
                "Members may borrow six books.",
                "Guests may reserve study rooms online.",
            ),
            (
                "Day | Hours\n--- | ---\nMonday to Friday | 9:00 to 18:00\nSundays | closed",
                "9:00 to 18:00",
                "9:30 to 18:00",
            ),
            ('```json\n{"open": "9:00", "closed": "18:00", "days": 28}\n```', "28", "82"),
            ("Books: six.\nPeriod: 28 days.\nLate: 0.20 EUR per day.", "0.20 EUR", "2.00 EUR"),
            ("图书馆周一至周五9:00至18:00开放。周日闭馆。", "9:00", "8:00"),
            (
                "A late book costs 0,20\u00a0EUR per day; members may borrow six books for 28\u2009days.",
                "28\u2009days",
                "28\u2009weeks",
            ),
        ),
    ),
    Topic(
        "loan",
        "The personal loan runs from 12 to 84 months. The interest rate is 6.9 % for loans above 5,000 USD and 8.4 % below. Early repayment is free of charge. The bank decides within two days.",
        "个人贷款期限为12至84个月。贷款超过5000美元时利率为6.9%，低于该金额时为8.4%。提前还款免费。银行在两天内作出决定。",
        (
            (
                "The personal loan runs from 12 to 84 months, and early repayment is free of charge.",
                "free of charge",
                "subject to a penalty",
            ),
            (
                "* The loan runs from 12 to 84 months\n* Early repayment is free of charge\n* The bank decides within two days",
                "from 12 to 84 months",
                "from 12 to 48 months",
            ),
            (
                "1. The interest rate is 6.9 % for loans above 5,000 USD.\n2. It is 8.4 % below.\n3. Early repayment is free of charge.",
                "8.4 %",
                "4.8 %",
            ),
            (
                "| Loan | Interest rate |\n|---|---|\n| above 5,000 USD | 6.9 % |\n| below 5,000 USD | 8.4 % |",
                "6.9 %",
                "9.6 %",
            ),
            (
                "```python\nif loan > 5000:\n    rate = 6.9\nelse:\n    rate = 8.4\n```",
                "rate = 6.9",
                "rate = 7.9",
            ),
            ("Term: 12 to 84 months.\nRate: 6.9 %.\nDecision: within two days.", "6.9 %", "0.69 %"),
            ("个人贷款期限为12至84个月。提前还款免费。", "84个月", "94个月"),
            (
                "Loans above 5\u202f000\u202fUSD cost 6.9\u00a0% interest.",
                "5\u202f000\u202fUSD",
                "50\u202f000\u202fUSD",
            ),
        ),
    ),
    Topic(
        "river",
        "The Orla river is 1,240 km long and flows into the Baltic Sea. Its source lies at 612 metres above sea level. In winter the river does not freeze. Ships of up to 800 tonnes can use it.",
        "奥尔拉河长1240公里，流入波罗的海。源头海拔612米。冬季河水不结冰。800吨以下的船只可以通航。",
        (
            ("The Orla river is 1,240 km long and flows into the Baltic Sea.", "Baltic Sea", "Black Sea"),
            (
                "- 1,240 km long\n- flows into the Baltic Sea\n- does not freeze in winter",
                "does not freeze",
                "does always freeze",
            ),
            (
                "1. The river is 1,240 km long.\n2. Its source lies at 612 metres above sea level.\n3. Ships of up to 800 tonnes can use it.",
                "800 tonnes",
                "8,000 tonnes",
            ),
            (
                "| River | Length | Source |\n|---|---|---|\n| Orla | 1,240 km | 612 metres |",
                "1,240 km",
                "1,420 km",
            ),
            ("```\nlength_km = 1240\nsource_m = 612\n```", "1240", "2140"),
            ("Length: 1,240 km.\nSource: 612 metres.\nShips: up to 800 tonnes.", "612 metres", "621 metres"),
            ("奥尔拉河长1240公里，流入波罗的海。冬季河水不结冰。", "1240公里", "1240米"),
            ("The Orla is 1\u2009240\u00a0km long.", "1\u2009240\u00a0km", "1\u2009240\u00a0miles"),
        ),
    ),
    Topic(
        "parcel",
        "A parcel of up to 2 kg costs 4.99 euros. Parcels over 31.5 kg are not accepted. Delivery takes one to three working days. Insurance is included up to 500 euros.",
        "2公斤以内的包裹邮费为4.99欧元。不接受超过31.5公斤的包裹。投递需要一至三个工作日。保险最高500欧元。",
        (
            (
                "A parcel of up to 2 kg costs 4.99 euros, and insurance is included up to 500 euros.",
                "4.99 euros",
                "4.99 dollars",
            ),
            (
                "* Up to 2 kg: 4.99 euros\n* Delivery takes one to three working days\n* Insurance is included up to 500 euros",
                "Delivery takes one to three working days",
                "Parcels can be tracked by a mobile app",
            ),
            (
                "1. A parcel of up to 2 kg costs 4.99 euros.\n2. Parcels over 31.5 kg are not accepted.\n3. Insurance is included up to 500 euros.",
                "are not accepted",
                "are accepted",
            ),
            ("| Weight | Price |\n|---|---|\n| up to 2 kg | 4.99 euros |", "2 kg", "5 kg"),
            ("```\nmax_kg = 31.5\nprice_eur = 4.99\n```", "31.5", "35.1"),
            ("Price: 4.99 euros.\nLimit: 31.5 kg.\nInsurance: 500 euros.", "31.5 kg", "31.5 g"),
            ("2公斤以内的包裹邮费为4.99欧元。保险最高500欧元。", "500欧元", "5000欧元"),
            ("A parcel of up to 2\u00a0kg costs 4,99\u202f€.", "4,99\u202f€", "9,49\u202f€"),
        ),
    ),
    Topic(
        "vaccine",
        "Adults receive two doses of the vaccine, 21 days apart. Store it at −20 °C; after thawing it must not be frozen again. The side effects last less than 48 hours. It is not approved for children under 5.",
        "成人接种两剂疫苗，间隔21天。疫苗在−20摄氏度保存，解冻后不得再次冷冻。副作用持续不到48小时。未批准用于5岁以下儿童。",
        (
            (
                "Adults receive two doses of the vaccine, 21 days apart; store it at -20 °C.",
                "-20 °C",
                "20 °C",
            ),
            (
                "* Two doses, 21 days apart\n* Store it at −20 °C\n* Side effects last less than 48 hours",
                "less than 48 hours",
                "more than 48 hours",
            ),
            (
                "1. Adults receive two doses.\n2. Store it at −20 °C.\n3. It is not approved for children under 5.",
                "is not approved",
                "is approved",
            ),
            (
                "| Property | Value |\n|---|---|\n| Interval | 21 days |\n| Storage | −20 °C |",
                "21 days",
                "12 days",
            ),
            ("```\ninterval_days: 21\nstorage: -20 °C\n```", "-20 °C", "-2 °C"),
            ("Doses: two.\nInterval: 21 days.\nStorage: −20 °C.", "Doses: two.", "Doses: 4."),
            ("成人接种两剂疫苗，间隔21天。副作用持续不到48小时。", "21天", "31天"),
            (
                "Store it at \u221220\u202f°C; the doses are 21\u00a0days apart.",
                "\u221220\u202f°C",
                "\u221270\u202f°C",
            ),
        ),
    ),
    Topic(
        "train",
        "The night train leaves Zurich at 19:59 and arrives in Hamburg at 07:31. A bed costs 89 CHF. Bicycles are not carried. Breakfast is included in sleeping cars only.",
        "夜车19:59从苏黎世出发，07:31到达汉堡。卧铺价格为89瑞士法郎。不运载自行车。只有卧铺车厢含早餐。",
        (
            ("The night train leaves Zurich at 19:59 and arrives in Hamburg at 07:31.", "Hamburg", "Munich"),
            (
                "- leaves Zurich at 19:59\n- arrives in Hamburg at 07:31\n- bicycles are not carried",
                "bicycles are not carried",
                "bicycles are carried",
            ),
            (
                "1. The train leaves Zurich at 19:59.\n2. A bed costs 89 CHF.\n3. Bicycles are not carried.",
                "89 CHF",
                "98 CHF",
            ),
            ("| Station | Time |\n|---|---|\n| Zurich | 19:59 |\n| Hamburg | 07:31 |", "07:31", "07:13"),
            ('```\nleaves = "19:59"\narrives = "07:31"\n```', "19:59", "20:59"),
            ("Bed: 89 CHF.\nLeaves: 19:59.\nArrives: 07:31.", "89 CHF", "89 EUR"),
            ("夜车19:59从苏黎世出发，07:31到达汉堡。不运载自行车。", "07:31", "08:31"),
            ("A bed costs 89\u2009CHF, and the train leaves at 19:59.", "89\u2009CHF", "189\u2009CHF"),
        ),
    ),
    Topic(
        "formula",
        "The area of the field is computed as a * b - 4. For a = 6 and b = 5 the result is 26. The formula does not hold for negative values. It was published in 1987.",
        "该区域的面积按 a * b - 4 计算。当 a = 6 且 b = 5 时结果为26。该公式不适用于负值。公式发表于1987年。",
        (
            ("The area of the field is computed as a * b - 4.", "b - 4", "b + 4"),
            (
                "* Computed as a * b - 4\n* The result is 26 for a = 6 and b = 5\n* Published in 1987",
                "26",
                "34",
            ),
            ("1. Take a = 6 and b = 5.\n2. Compute a * b - 4.\n3. The result is 26.", "a = 6", "a = 9"),
            ("| a | b | result |\n|---|---|---|\n| 6 | 5 | 26 |", "| 26 |", "| 62 |"),
            ("```python\na = 6\nb = 5\nresult = a * b - 4\n```", "b - 4", "b * 4"),
            ("Result: 26.\nPublished: 1987.", "1987", "1978"),
            ("当 a = 6 且 b = 5 时结果为26。公式发表于1987年。", "结果为26", "结果为62"),
            ("For a\u00a0=\u00a06 and b\u00a0=\u00a05 the result is 26.", "26", "16"),
        ),
    ),
    Topic(
        "election",
        "In the election of 3 October 2021, the Green list won 34 of 120 seats. Turnout was 61.2 %. No party has a majority. The council elects the mayor, Jana Holt.",
        "在2021年10月3日的选举中，绿党名单赢得120个席位中的34个。投票率为61.2%。没有政党获得多数。议会选举市长雅娜·霍尔特。",
        (
            (
                "In the election of 3 October 2021, the Green list won 34 of 120 seats.",
                "3 October 2021",
                "10 March 2021",
            ),
            (
                "* The Green list won 34 of 120 seats\n* Turnout was 61.2 %\n* No party has a majority",
                "No party has a majority",
                "The Green list has a majority",
            ),
            (
                "1. The Green list won 34 of 120 seats.\n2. Turnout was 61.2 %.\n3. The council elects the mayor.",
                "61.2 %",
                "62.1 %",
            ),
            ("| List | Seats |\n|---|---|\n| Green | 34 of 120 |", "34", "43"),
            ("```\nseats = 34\nturnout = 61.2 %\n```", "seats = 34", "seats = 54"),
            ("Seats: 34.\nTurnout: 61.2 %.\nMayor: Jana Holt.", "Jana Holt", "Marc Stein"),
            ("绿党名单赢得120个席位中的34个。投票率为61.2%。", "61.2%", "16.2%"),
            ("The Green list won 34 of 120\u00a0seats on 3\u00a0October\u00a02021.", "34 of", "64 of"),
        ),
    ),
    Topic(
        "laptop",
        "The laptop weighs 1.3 kg and has 16 GB of memory. The battery lasts 14 hours. The memory cannot be extended. It costs 1,299 EUR with a warranty of three years.",
        "这台笔记本电脑重1.3公斤，内存16GB。电池可用14小时。内存不可扩展。售价1299欧元，保修三年。",
        (
            ("The laptop weighs 1.3 kg, has 16 GB of memory and costs 1,299 EUR.", "16 GB", "16 TB"),
            ("- weighs 1.3 kg\n- has 16 GB of memory\n- the battery lasts 14 hours", "14 hours", "40 hours"),
            (
                "1. It weighs 1.3 kg.\n2. The memory cannot be extended.\n3. The warranty is three years.",
                "cannot be extended",
                "can be extended",
            ),
            (
                "| Feature | Value |\n|---|---|\n| Weight | 1.3 kg |\n| Memory | 16 GB |\n| Price | 1,299 EUR |",
                "1,299 EUR",
                "1,299 USD",
            ),
            ('```json\n{"weight_kg": 1.3, "memory_gb": 16, "battery_hours": 14}\n```', "1.3", "3.1"),
            ("Weight: 1.3 kg.\nMemory: 16 GB.\nPrice: 1,299 EUR.", "1,299 EUR", "1,199 EUR"),
            ("这台笔记本电脑重1.3公斤，内存16GB。内存不可扩展。", "1.3公斤", "2.3公斤"),
            ("It costs 1.299,00\u00a0EUR and weighs 1,3\u202fkg.", "1.299,00", "1.929,00"),
        ),
    ),
    Topic(
        "heating",
        "Set the boiler to 55 °C. The pump runs from 6:30 to 22:00. Never open the valve while the pump is running. Service is due every 24 months and costs 180 GBP.",
        "锅炉设置为55摄氏度。水泵从6:30运行至22:00。水泵运行时切勿打开阀门。每24个月保养一次，费用为180英镑。",
        (
            ("Set the boiler to 55 °C; the pump runs from 6:30 to 22:00.", "55 °C", "65 °C"),
            (
                "* Set the boiler to 55 °C\n* The pump runs from 6:30 to 22:00\n* Service is due every 24 months",
                "Service is due every 24 months",
                "The radiators are cleaned by the tenant",
            ),
            (
                "1. Set the boiler to 55 °C.\n2. Never open the valve while the pump is running.\n3. Service costs 180 GBP.",
                "Never open",
                "Always open",
            ),
            (
                "| Setting | Value |\n|---|---|\n| Boiler | 55 °C |\n| Service | 180 GBP |",
                "180 GBP",
                "108 GBP",
            ),
            ("```\nboiler: 55 °C\npump: 6:30 to 22:00\n```", "22:00", "20:00"),
            ("Boiler: 55 °C.\nService: 180 GBP.", "180 GBP", "180 EUR"),
            ("锅炉设置为55摄氏度。每24个月保养一次。", "24个月", "42个月"),
            ("Service costs 180\u202f£ every 24\u00a0months.", "24\u00a0months", "24\u00a0weeks"),
        ),
    ),
    # ---- the second half
    Topic(
        "museum",
        "The museum shows 430 paintings on three floors. Entry costs 12 EUR, for students 7 EUR. Photographs are not allowed. On the first Sunday of a month entry is free.",
        "博物馆在三层楼展出430幅画作。门票12欧元，学生7欧元。不允许拍照。每月第一个周日免费入场。",
        (
            (
                "The museum shows 430 paintings on three floors, and photographs are not allowed.",
                "are not allowed",
                "are allowed",
            ),
            ("* Entry costs 12 EUR\n* Students pay 7 EUR\n* 430 paintings on three floors", "7 EUR", "9 EUR"),
            (
                "1. Entry costs 12 EUR.\n2. Photographs are not allowed.\n3. On the first Sunday of a month entry is free.",
                "Photographs are not allowed.",
                "Guided tours start every hour.",
            ),
            ("| Visitor | Entry |\n|---|---|\n| Adults | 12 EUR |\n| Students | 7 EUR |", "12 EUR", "21 EUR"),
            ("```\nentry = 12\nstudents = 7\n```", "entry = 12", "entry = 13"),
            ("Paintings: 430.\nEntry: 12 EUR.\nStudents: 7 EUR.", "430", "340"),
            ("门票12欧元，学生7欧元。不允许拍照。", "学生7欧元", "学生9欧元"),
            ("Entry costs 12\u202fEUR, for students 7\u202fEUR.", "12\u202fEUR", "12\u202fUSD"),
        ),
    ),
    Topic(
        "contract",
        "The contract begins on 1 April 2023 and ends after 36 months. Notice must be given three months before the end. Subletting is not permitted. The deposit is 2,400 EUR.",
        "合同自2023年4月1日起生效，36个月后终止。须在到期前三个月通知。不允许转租。押金为2400欧元。",
        (
            (
                "The contract begins on 1 April 2023 and ends after 36 months.",
                "1 April 2023",
                "4 January 2023",
            ),
            (
                "- begins on 1 April 2023\n- the deposit is 2,400 EUR\n- subletting is not permitted",
                "is not permitted",
                "is permitted",
            ),
            (
                "1. The contract ends after 36 months.\n2. Notice must be given three months before the end.\n3. The deposit is 2,400 EUR.",
                "2,400 EUR",
                "4,200 EUR",
            ),
            (
                "| Item | Value |\n|---|---|\n| Begin | 1 April 2023 |\n| Deposit | 2,400 EUR |",
                "2,400 EUR",
                "2,400 GBP",
            ),
            ("```\nbegin: 2023-04-01\nmonths: 36\n```", "2023-04-01", "2023-01-04"),
            ("Deposit: 2,400 EUR.\nTerm: 36 months.", "36 months", "63 months"),
            ("合同36个月后终止。押金为2400欧元。", "2400欧元", "2400美元"),
            ("The deposit is 2\u202f400\u00a0EUR, the term 36\u00a0months.", "2\u202f400", "24\u202f000"),
        ),
    ),
    Topic(
        "star",
        "The star Velia is 38 light years away. Its surface has 5,200 kelvin. Two planets orbit it; neither has an atmosphere. It was discovered by Ruth Ames in 1962.",
        "维利亚星距离我们38光年。表面温度为5200开。有两颗行星环绕，都没有大气层。它由露丝·艾姆斯于1962年发现。",
        (
            (
                "The star Velia was discovered by Ruth Ames in 1962 and is 38 light years away.",
                "Ruth Ames",
                "Carl Brandt",
            ),
            (
                "* 38 light years away\n* Surface of 5,200 kelvin\n* Two planets orbit it",
                "38 light years",
                "83 light years",
            ),
            (
                "1. Velia is 38 light years away.\n2. Two planets orbit it.\n3. Neither has an atmosphere.",
                "Neither has an atmosphere.",
                "One of them is inhabited by bacteria.",
            ),
            (
                "| Star | Distance | Surface |\n|---|---|---|\n| Velia | 38 light years | 5,200 kelvin |",
                "5,200 kelvin",
                "2,500 kelvin",
            ),
            ("```\ndistance = 38\nsurface = 5200\n```", "surface = 5200", "surface = 5800"),
            ("Distance: 38 light years.\nDiscovered: 1962.", "1962", "1926"),
            ("维利亚星距离我们38光年。表面温度为5200开。", "38光年", "58光年"),
            ("Its surface has 5\u2009200\u00a0kelvin.", "5\u2009200", "6\u2009200"),
        ),
    ),
    Topic(
        "pool",
        "The pool is 25 m long and 1.8 m deep. Children under 8 need a companion. Diving is forbidden. A season ticket costs 110 USD, a single one 4.50 USD.",
        "泳池长25米，深1.8米。8岁以下儿童需有人陪同。禁止跳水。季票110美元，单次票4.50美元。",
        (
            ("The pool is 25 m long and 1.8 m deep; diving is forbidden.", "is forbidden", "is permitted"),
            ("* 25 m long\n* 1.8 m deep\n* A season ticket costs 110 USD", "110 USD", "101 USD"),
            (
                "1. Children under 8 need a companion.\n2. Diving is forbidden.\n3. A single ticket costs 4.50 USD.",
                "under 8",
                "under 6",
            ),
            (
                "| Ticket | Price |\n|---|---|\n| season | 110 USD |\n| single | 4.50 USD |",
                "4.50 USD",
                "5.40 USD",
            ),
            ("```\nlength_m = 25\ndepth_m = 1.8\n```", "depth_m = 1.8", "depth_m = 8.1"),
            ("Length: 25 m.\nDepth: 1.8 m.\nSeason: 110 USD.", "1.8 m", "1.8 km"),
            ("泳池长25米，深1.8米。禁止跳水。", "25米", "50米"),
            ("A single ticket costs 4,50\u202f$, a season ticket 110\u202f$.", "4,50\u202f$", "4,50\u202f€"),
        ),
    ),
    Topic(
        "tax",
        "Income up to 9,800 EUR is free of tax. Above it the rate is 19 %, and 42 % from 58,000 EUR. The form must be sent by 31 July. Students are not exempt.",
        "收入在9800欧元以内免税。超过部分税率为19%，58000欧元起为42%。表格须在7月31日前寄出。学生不免税。",
        (
            (
                "Income up to 9,800 EUR is free of tax, and the form must be sent by 31 July.",
                "31 July",
                "31 May",
            ),
            (
                "- up to 9,800 EUR free of tax\n- 19 % above it\n- students are not exempt",
                "are not exempt",
                "are exempt",
            ),
            (
                "1. Income up to 9,800 EUR is free of tax.\n2. The rate is 42 % from 58,000 EUR.\n3. The form must be sent by 31 July.",
                "58,000 EUR",
                "85,000 EUR",
            ),
            (
                "| Income | Rate |\n|---|---|\n| above 9,800 EUR | 19 % |\n| from 58,000 EUR | 42 % |",
                "42 %",
                "24 %",
            ),
            ("```python\nif income > 58000:\n    rate = 42\n```", "rate = 42", "rate = 45"),
            ("Free: up to 9,800 EUR.\nRate: 19 %.", "19 %", "91 %"),
            ("收入在9800欧元以内免税。学生不免税。", "9800欧元", "8900欧元"),
            ("From 58\u2009000\u00a0EUR the rate is 42\u202f%.", "58\u2009000", "48\u2009000"),
        ),
    ),
    Topic(
        "dog",
        "The dog needs 300 g of food twice a day. It was born on 9 February 2020 and weighs 12.5 kg. It must not eat chocolate. Its owner is Lena Frey.",
        "这只狗每天两次，每次需要300克食物。它出生于2020年2月9日，体重12.5公斤。不能吃巧克力。主人是莱娜·弗雷。",
        (
            (
                "The dog needs 300 g of food twice a day and must not eat chocolate.",
                "must not eat",
                "must eat",
            ),
            (
                "* 300 g of food twice a day\n* Weighs 12.5 kg\n* Born on 9 February 2020",
                "12.5 kg",
                "15.2 kg",
            ),
            (
                "1. The dog weighs 12.5 kg.\n2. It must not eat chocolate.\n3. Its owner is Lena Frey.",
                "Lena Frey",
                "Tom Berger",
            ),
            (
                "| Property | Value |\n|---|---|\n| Born | 9 February 2020 |\n| Weight | 12.5 kg |",
                "9 February 2020",
                "2 September 2020",
            ),
            ('```json\n{"food_g": 300, "weight_kg": 12.5}\n```', "300", "500"),
            ("Food: 300 g.\nWeight: 12.5 kg.", "300 g", "300 kg"),
            ("它出生于2020年2月9日，体重12.5公斤。", "12.5公斤", "12.5克"),
            ("It weighs 12,5\u202fkg and needs 300\u00a0g of food.", "300\u00a0g", "200\u00a0g"),
        ),
    ),
    Topic(
        "server",
        "The server answers on port 8443. Requests are limited to 120 per minute. Passwords are never logged. Backups are kept for 90 days. The timeout is 30 seconds.",
        "服务器在8443端口响应。请求限制为每分钟120次。密码从不记录。备份保留90天。超时为30秒。",
        (
            ("The server answers on port 8443, and backups are kept for 90 days.", "8443", "8080"),
            (
                "* Requests are limited to 120 per minute\n* Passwords are never logged\n* Backups are kept for 90 days",
                "are never logged",
                "are logged",
            ),
            (
                "1. The server answers on port 8443.\n2. The timeout is 30 seconds.\n3. Backups are kept for 90 days.",
                "30 seconds",
                "30 minutes",
            ),
            ("| Setting | Value |\n|---|---|\n| Port | 8443 |\n| Timeout | 30 seconds |", "8443", "8434"),
            ("```ini\nport = 8443\ntimeout = 30\nrequests = 120\n```", "timeout = 30", "timeout = 60"),
            ("Port: 8443.\nLimit: 120 per minute.\nBackups: 90 days.", "90 days", "19 days"),
            ("服务器在8443端口响应。备份保留90天。", "90天", "9天"),
            ("The timeout is 30\u00a0seconds, the limit 120 per minute.", "120", "210"),
        ),
    ),
    Topic(
        "mountain",
        "Mount Arl is 3,415 m high. It was first climbed on 7 August 1871 by Hugo Senn. The hut is closed from November to March. The ascent takes five hours.",
        "阿尔山高3415米。1871年8月7日由胡戈·森首次登顶。山屋11月至3月关闭。登顶需要五小时。",
        (
            ("Mount Arl is 3,415 m high and was first climbed by Hugo Senn.", "3,415 m", "3,451 m"),
            (
                "- 3,415 m high\n- first climbed on 7 August 1871\n- the hut is closed from November to March",
                "is closed",
                "is open",
            ),
            (
                "1. Mount Arl is 3,415 m high.\n2. The ascent takes five hours.\n3. The hut is closed from November to March.",
                "The ascent takes five hours.",
                "A cable car runs to the summit.",
            ),
            (
                "| Fact | Value |\n|---|---|\n| Height | 3,415 m |\n| First climbed | 7 August 1871 |",
                "7 August 1871",
                "8 July 1871",
            ),
            ("```\nheight_m = 3415\nfirst = 1871-08-07\n```", "1871-08-07", "1871-07-08"),
            ("Height: 3,415 m.\nAscent: five hours.", "3,415 m", "3,415 ft"),
            ("阿尔山高3415米。登顶需要五小时。", "3415米", "3145米"),
            ("Mount Arl is 3\u202f415\u202fm high.", "3\u202f415", "4\u202f315"),
        ),
    ),
    Topic(
        "recipe",
        "The sauce needs 250 ml of cream and 40 g of butter. Boil it for 3 minutes, then add 1 egg. Do not boil it again. It keeps for two days in the fridge.",
        "酱汁需要250毫升奶油和40克黄油。煮3分钟，然后加入1个鸡蛋。不要再次煮沸。冰箱中可保存两天。",
        (
            ("The sauce needs 250 ml of cream and 40 g of butter.", "250 ml", "250 l"),
            ("* 250 ml of cream\n* 40 g of butter\n* 1 egg", "1 egg", "2 onions"),
            (
                "Step 1: Boil it for 3 minutes.\nStep 2: Add 1 egg.\nStep 3: Do not boil it again.",
                "3 minutes",
                "8 minutes",
            ),
            ("| Ingredient | Amount |\n|---|---|\n| cream | 250 ml |\n| butter | 40 g |", "40 g", "400 g"),
            ("```\ncream = 250 ml\nbutter = 40 g\n```", "cream = 250 ml", "cream = 520 ml"),
            ("Cream: 250 ml.\nButter: 40 g.\nKeeps: two days.", "two days", "two weeks"),
            ("酱汁需要250毫升奶油和40克黄油。不要再次煮沸。", "40克", "60克"),
            ("It needs 250\u00a0ml of cream and 40\u2009g of butter.", "40\u2009g", "40\u2009kg"),
        ),
    ),
    Topic(
        "flight",
        "Flight LX 318 departs at 7:10 from gate 24. Hand baggage of up to 8 kg is free. Checked bags cost 35 CHF. Seats cannot be changed at the gate.",
        "LX318航班7:10从24号登机口起飞。8公斤以内的手提行李免费。托运行李35瑞士法郎。登机口不能更换座位。",
        (
            ("Flight LX 318 departs at 7:10, and hand baggage of up to 8 kg is free.", "7:10", "7:40"),
            (
                "* Hand baggage of up to 8 kg is free\n* Checked bags cost 35 CHF\n* Seats cannot be changed at the gate",
                "cannot be changed",
                "can be changed",
            ),
            (
                "1. The flight departs at 7:10 from gate 24.\n2. Checked bags cost 35 CHF.\n3. Hand baggage of up to 8 kg is free.",
                "gate 24",
                "gate 42",
            ),
            (
                "| Baggage | Price |\n|---|---|\n| hand, up to 8 kg | free |\n| checked | 35 CHF |",
                "35 CHF",
                "35 USD",
            ),
            ('```\ndeparts = "7:10"\ngate = 24\n```', "gate = 24", "gate = 14"),
            ("Gate: 24.\nBag: 35 CHF.\nDeparts: 7:10.", "35 CHF", "53 CHF"),
            ("8公斤以内的手提行李免费。托运行李35瑞士法郎。", "8公斤", "18公斤"),
            ("Checked bags cost 35\u202fCHF; 8\u00a0kg are free.", "8\u00a0kg", "8\u00a0lbs"),
        ),
    ),
    Topic(
        "school",
        "The school has 620 pupils and 48 teachers. Lessons begin at 8:15. Telephones are not allowed in class. The summer holidays start on 5 July and last six weeks.",
        "学校有620名学生和48名教师。8:15开始上课。课堂上不允许使用电话。暑假7月5日开始，为期六周。",
        (
            (
                "The school has 620 pupils and 48 teachers, and lessons begin at 8:15.",
                "48 teachers",
                "84 teachers",
            ),
            (
                "- 620 pupils\n- lessons begin at 8:15\n- telephones are not allowed in class",
                "are not allowed",
                "are allowed",
            ),
            (
                "1. Lessons begin at 8:15.\n2. The summer holidays start on 5 July.\n3. They last six weeks.",
                "5 July",
                "7 May",
            ),
            ("| Group | Number |\n|---|---|\n| pupils | 620 |\n| teachers | 48 |", "620", "260"),
            ('```json\n{"pupils": 620, "teachers": 48}\n```', "620", "602"),
            ("Pupils: 620.\nBegin: 8:15.\nHolidays: 5 July.", "8:15", "8:45"),
            ("学校有620名学生和48名教师。8:15开始上课。", "620名", "820名"),
            ("The school has 620\u00a0pupils; lessons begin at 8:15.", "620\u00a0pupils", "520\u00a0pupils"),
        ),
    ),
    Topic(
        "battery",
        "The battery has 75 kWh and a range of 410 km. Charging from 10 to 80 % takes 28 minutes. Do not charge below −10 °C. The warranty covers eight years or 160,000 km.",
        "电池容量75千瓦时，续航410公里。从10%充到80%需要28分钟。−10摄氏度以下不要充电。保修八年或16万公里。",
        (
            ("The battery has 75 kWh and a range of 410 km.", "410 km", "410 miles"),
            (
                "* Range of 410 km\n* Charging from 10 to 80 % takes 28 minutes\n* The warranty covers eight years",
                "28 minutes",
                "82 minutes",
            ),
            (
                "1. The range is 410 km.\n2. Do not charge below −10 °C.\n3. The warranty covers eight years or 160,000 km.",
                "160,000 km",
                "16,000 km",
            ),
            (
                "| Property | Value |\n|---|---|\n| Capacity | 75 kWh |\n| Range | 410 km |",
                "75 kWh",
                "57 kWh",
            ),
            ("```\ncapacity = 75 kWh\nrange = 410 km\n```", "range = 410 km", "range = 140 km"),
            ("Capacity: 75 kWh.\nCharging: 28 minutes.", "28 minutes", "28 hours"),
            ("续航410公里。从10%充到80%需要28分钟。", "410公里", "401公里"),
            (
                "The warranty covers 160\u202f000\u00a0km; do not charge below \u221210\u202f°C.",
                "\u221210\u202f°C",
                "10\u202f°C",
            ),
        ),
    ),
)
