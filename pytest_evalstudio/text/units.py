"""Units and currencies as they are written after or before a number."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple


class Measure(NamedTuple):
    """Unit of a number.

    Attributes:
        name: of the unit to which all units of its kind are converted.
        factor: size in that unit.
    """

    name: str
    factor: Fraction = Fraction(1)


_CURRENCIES = """
usd: $ us$ usd dollar dollars bucks us-dollar us-dollars u.s.-dollar u.s.-dollars
eur: € eur euro euros
gbp: £ gbp sterling quid
jpy: jpy yen 円 日元
cny: cny rmb yuan 元 人民币
yen or yuan: ¥
inr: ₹ inr rupee rupees
chf: chf franc francs fr.
krw: ₩ krw won
rub: ₽ rub rouble roubles ruble rubles
try: ₺ try lira
ils: ₪ ils shekel shekels
czk: czk kč
pln: pln zł zloty
sek: sek
nok: nok
dkk: dkk
cad: c$ ca$ cad
aud: a$ au$ aud
nzd: nz$ nzd
hkd: hk$ hkd
sgd: s$ sgd
brl: r$ brl reais
mxn: mxn
zar: zar rand
btc: btc bitcoin bitcoins
cent: ¢ cent cents
pence: pence
"""
_MEASURES = """
%: 1 % percent pct per-cent percentage-points 百分
g: 1 g gram grams gramme grammes 克
g: 1/1000 mg milligram milligrams 毫克
g: 1000 kg kgs kilo kilos kilogram kilograms 公斤 千克
g: 1000000 tonne tonnes
g: 453.59237 lb lbs
g: 28.349523125 oz ounce ounces
m: 1 m metre metres meter meters 米
m: 1/1000 mm millimetre millimetres millimeter millimeters 毫米
m: 1/100 cm centimetre centimetres centimeter centimeters 厘米
m: 1000 km kilometre kilometres kilometer kilometers 公里 千米
m: 0.0254 inch inches
m: 0.3048 ft foot feet
m: 0.9144 yd yard yards
m: 1609.344 mi mile miles
l: 1 l litre litres liter liters 升
l: 1/1000 ml millilitre millilitres milliliter milliliters 毫升
l: 1/100 cl
l: 1/10 dl
gallon: 1 gal gallon gallons
s: 1 s sec secs second seconds 秒
s: 1/1000 ms millisecond milliseconds 毫秒
s: 60 min mins minute minutes 分钟
s: 3600 h hr hrs hour hours 小时
s: 86400 day days 天
s: 604800 week weeks 周
month: 1 month months 个月
month: 12 yr yrs year years 年
°c: 1 °c ℃ celsius degrees-celsius 摄氏度
°f: 1 °f ℉ fahrenheit degrees-fahrenheit
°: 1 ° degree degrees 度
k: 1 kelvin
byte: 1 byte bytes
byte: 1000 kb kilobyte kilobytes
byte: 1000000 mb megabyte megabytes
byte: 1000000000 gb gigabyte gigabytes
byte: 1000000000000 tb terabyte terabytes
watt: 1 w watt watts
watt: 1000 kw kilowatt kilowatts
watt: 1000000 megawatt megawatts
kwh: 1 kwh kilowatt-hours
v: 1 volt volts
hz: 1 hz
hz: 1000 khz
hz: 1000000 mhz
hz: 1000000000 ghz
km/h: 1 km/h kph kmh
km/h: 1.609344 mph miles-per-hour
m/s: 1 m/s
m2: 1 m² m2 sqm square-metres square-meters 平方米
m2: 10000 ha hectare hectares
m2: 1000000 km² km2
acre: 1 acre acres
am: 1 am a.m.
pm: 1 pm p.m.
"""


def _table() -> dict[str, Measure]:
    table: dict[str, Measure] = {}
    for line in _CURRENCIES.split("\n"):
        name, _, words = line.partition(": ")
        table |= dict.fromkeys([form.replace("-", " ") for form in words.split()], Measure(name))
    for line in _MEASURES.split("\n"):
        name, _, rest = line.partition(": ")
        factor, *forms = rest.split() or ["1"]
        table |= {form.replace("-", " "): Measure(name, Fraction(factor)) for form in forms}
    return table


MEASURES: Mapping[str, Measure] = _table()
PREFIXES = tuple(
    "us$ ca$ au$ nz$ hk$ c$ a$ s$ r$ $ € £ ¥ ₹ ₩ ₽ ₺ ₪ usd eur gbp chf jpy inr cny".split()  # noqa: SIM905
)
"""Currencies that are written before the number."""
_EITHER = {"yen or yuan": ("jpy", "cny")}


def same_unit(first: str, second: str) -> bool:
    """Return True if two names of units are the same, or one of them is not stated.

    >>> same_unit("usd", "eur"), same_unit("", "eur"), same_unit("yen or yuan", "jpy")
    (False, True, True)
    """
    return (
        not first
        or not second
        or first == second
        or second in _EITHER.get(first, ())
        or first in _EITHER.get(second, ())
    )
