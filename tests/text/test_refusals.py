"""Refusals, and answers that look like one."""

from __future__ import annotations

import pytest

from pytest_evalstudio.text.refusals import MAX_CHARS, is_refusal

REFUSALS = """
I don't know.
I do not know.
I don’t know!
Sorry, I don't know.
I'm sorry, but I don't know the answer to that.
I'm afraid I don't know.
I really don't know what the fee is.
Unfortunately, I don't know whether the card works abroad.
I'm not sure.
I am not sure about that, sorry.
I'm not certain whether this applies to your account.
I cannot help with that.
I can't help you with that request.
I'm sorry, but I can't assist with that.
I'm sorry, I can't help with that request.
Sorry, but I cannot provide legal advice.
I am unable to answer this question.
I'm not able to share personal data of customers.
I won't be able to help you with this.
I will not provide instructions for that.
We are unable to process this request.
I must decline.
I have to decline to answer that.
I respectfully decline to comment.
I'd rather not discuss this.
I would prefer not to answer.
As an AI language model, I cannot provide financial advice.
As a bank assistant, I can't give medical advice. Please ask a doctor.
I'm just an assistant for fees and cards. I can't help with the weather.
I don't have access to your account.
I don't have that information.
I don't have any information about interest rates.
I do not have enough context to answer this.
I don't currently have access to real-time data.
I have no information about this.
I've no idea.
I have no idea.
We have no record of such a product.
I found no mention of a mortgage in the documents.
I could not find any information on this topic in the documents.
I couldn't find that in the documents you provided.
The documents do not answer this question.
The documents don't mention a branch in Oslo.
The provided context does not contain information about fees.
The context does not say.
The given text doesn't specify the deadline.
The retrieved documents do not contain the answer. Please contact the support team.
Based on the provided context, I cannot determine the fee.
According to the documents, there is no information about this.
From the given context, it is not possible to answer the question.
None of the documents mentions insurance.
The context provided does not include any details on this topic.
The sources are silent on this.
There is no information about this in the documents.
There is not enough information to answer.
There isn't enough context to answer the question.
No information is available about this topic.
No relevant information was found.
Not mentioned in the documents.
Not specified.
It is not stated in the text.
The answer is not given in the context.
This information is not available.
It is not possible to say.
Unknown.
That question is outside of my scope.
This is beyond the scope of the provided documents.
Your request falls outside my area of expertise.
The question cannot be answered.
This question cannot be answered from the documents.
I'm sorry, but the provided context does not contain information about loans. It only discusses cards.
I don't know. The documents only describe card fees.
I don't know. Please call us at +420 123 456 789 or visit a branch.
I cannot answer that. Is there anything else I can help you with?
I'm sorry for the inconvenience, but I can't access that.
I apologize, but I cannot fulfill this request.
Unfortunately, the documents do not say how long the transfer takes. You may want to ask your branch.
I cannot answer this question because the context has no details on it.
**I don't know.**
- I don't know.
I'm sorry, I do not understand the question.
I only answer questions about the bank.
I can't comment on that.
I'm unable to provide that information.
I apologize, but I don't have enough information to answer your question.
I'm sorry, but I cannot find any relevant information about your question in the provided documents.
The provided documents do not contain any information regarding the CEO's salary.
I don't have specific details on that in my knowledge base.
Sorry, I couldn't find an answer to your question.
I cannot answer this question based on the provided context.
I'm sorry, but I'm not able to help with that.
This question is out of scope for me.
I can't share that information due to privacy reasons.
I'm sorry, I can't provide information about other customers' accounts.
Unfortunately, I am not able to find information about that topic.
I am not able to discuss political topics.
It seems that the context doesn't include information about this.
Based on the information provided, I can't determine the answer.
The answer to this question is not found in the provided context.
The text does not provide information on this.
I do not have the answer to this question.
I'm not able to verify that.
I'm sorry, but I can only answer questions about our products.
My apologies, I don't have information on that topic.
I would need more information to answer that.
Insufficient information to answer the question.
I cannot disclose customer data.
Sorry, that information isn't available to me.
There's no mention of a refund policy in the documents.
I don't think I can answer that.
I do not have personal opinions.
Regrettably, the sources I have do not cover this topic.
I'm not qualified to give medical advice; please consult a doctor.
I can't do that, Dave.
The documentation does not specify a maximum.
We're sorry, but we cannot process your request at this time.
It's not clear from the context.
I don't have details about this, but you can contact support at help@bank.com.
No answer found.
I was unable to find the requested information in the context.
I'm afraid that's not something I can help with.
The context is insufficient to answer this.
Cannot answer from the given documents.
Sorry, I'm not able to answer this based on the documents I have.
I was not able to find any mention of that in the material.
This topic isn't covered in the documents.
I have not been given information about that.
The documents provided do not address this.
I don't have knowledge of events after 2023.
I cannot give you that number.
I can't tell you that.
I'm not allowed to share this.
I am not permitted to discuss internal policies.
Sorry, I can't do that.
That's outside my area of knowledge.
I don't have the data to answer.
I don't see any information about that in the context.
No information about the warranty is given in the documents.
I do not have access to personal records.
I can't access the internet.
The passage does not state who the author is.
I'm sorry, I have no details on that.
It is not specified in the provided text.
I couldn't locate that document.
I don't know who that is.
The context lacks information about this.
I do not have that data available.
I am sorry, but this information cannot be provided.
I'd prefer not to say.
We don't know yet.
I can't say for sure.
I am not aware of this information.
The answer cannot be determined from the context.
I don't have an answer for that.
I'm sorry, but I can't provide medical advice. Please consult a healthcare professional.
I don't have any record of that transaction.
Sorry, I can't share passwords.
I am unable to determine this from the documents provided.
The context does not mention who founded the company.
I can't find anything about that.
I have no knowledge of that.
I'm sorry, I can't discuss that topic.
There is no data available on this.
I do not know who wrote it.
I can't give investment advice, but I'd be happy to help with our products.
I was unable to locate information on this in our knowledge base.
The requested information is not included in the provided passages.
I am not sure what you mean.
I cannot comply with this request.
No, I can't tell you the password.
Your question is beyond my capabilities.
I don't have that in my documents.
The documents contain no information on overdrafts.
That is not mentioned anywhere in the text.
I cannot confirm that.
Unfortunately I have no access to this data.
I don't know, sorry.
We are not able to provide this information by chat.
I cannot answer questions about other customers.
I won't answer that.
This is not covered by the documents.
I could not find the answer.
""".strip().splitlines()

ANSWERS = """
I don't know of any exceptions: the fee is 5 USD
I don't know of any exceptions, the fee is always charged.
I don't know a single bank that charges less than this one.
I'm not sure, but the fee is 5 USD.
I am not certain, but I believe it is free.
I don't know the exact date, but it was in spring.
I don't know the exact amount. It is about 5 USD.
I don't know. The fee is 5 USD.
I don't know. Paris is the capital.
I'm not aware of any fee.
I can't recommend this card enough.
I cannot stress enough that the fee is due every month.
I can help you with that: open the app and choose Cards.
I could not find any fee, so the card is free.
Sorry for the delay. The card is free.
Sorry, the card is not free.
I'm sorry to hear that. Open the app and block the card.
Unfortunately, the card is not valid abroad.
Unfortunately, you cannot use the card in Japan.
No.
No, it is not possible to use the card abroad.
No, the card does not include insurance.
No fee is charged.
No customers are affected.
There is no fee.
There is no annual fee for this card.
There are no restrictions.
The card cannot be used abroad.
The card does not include travel insurance.
The account has no minimum balance.
You cannot withdraw cash with this card.
You don't have to know your PIN.
You do not need any documents.
You must decline the offer in writing.
We do not charge a fee.
We don't offer mortgages to foreigners.
We cannot accept deposits in cash, use a transfer instead.
We refuse cheques.
It is not available in Norway.
It is not a loan.
This is not a fee but a deposit.
This is outside of the city.
The branch is out of town.
The limit is unknown to the public and set by the bank at 500 USD.
The fee is not charged.
Information is available in the app.
Information about the fee is in the price list.
The documents say that the fee is five dollars.
The context mentions that the fee is five dollars.
According to the documents, the fee is 5 USD.
Based on the provided context, the answer is yes.
The documents do not mention a fee, so the card is free.
The documents don't mention a limit, however the app shows one of 300 USD.
The documents you need are a passport and a statement.
The context does not mention a fee of 5 USD; it is 6 USD.
If you don't know your PIN, order a new one in the app.
If I don't know you, I don't open the door, says the rule.
When I don't know the code, what should I do? Reset it.
People who don't know their PIN can reset it.
"I don't know" is what most customers said.
Customers say that they do not know the fee. It is printed on the statement.
He said he could not help with that.
As an AI, I think the answer is Paris.
As a student, you pay nothing.
Please call the branch.
Let me know if you need anything else.
How can I help you?
Thank you!
I understand. The fee is five dollars.
I would be happy to help: the fee is five dollars.
I have access to the price list: cards are free.
Knowledge is power.
Nothing is known about it except its price, which is five dollars.
The answer is no.
The answer is 42.
It depends on your contract.
The team can help you block the card.
Unlimited.
Not at all.
Not available on Sundays.
42
Yes.
The fee is not mentioned separately; it is part of the price of 10 USD.
We cannot refund tickets after departure.
You can't change the name on a ticket.
The bank does not provide loans to minors.
There is no limit on withdrawals.
I recommend the Gold card.
It is unclear how the fee was calculated, but it amounts to 12 USD.
The report does not include 2022 figures, only 2021: revenue was 3 million.
There's no need to worry, the deposit is insured.
Sorry about that! Your PIN can be reset in the app.
I'm not sure which card you mean: the Gold card costs 10 USD, the Silver card is free.
No documents are required.
No, there isn't a fee.
The documents required are a passport and a utility bill.
Don't share your PIN with anyone.
The policy does not cover theft.
You are unable to log in because the account is locked.
Not every branch is open on Sunday.
I found three options for you.
This is beyond the 30-day window, so a refund is not possible.
Your request was approved.
The information in your profile is out of date; update it in the app.
None of the cards have a fee.
None of the documents need to be notarised.
I can answer that: yes.
As of today, the rate is five percent.
It can't be cancelled online; visit a branch.
Without a passport, you cannot open an account.
If you have no access to your account, reset the password.
The context of the decision was a change of law.
The text on the card is printed in English.
There was no data loss.
The answer is Paris. I don't have further details.
Paris, although I cannot confirm it.
The fee is five dollars. Let me know if you need anything else.
I don't know much about it, but the capital is Paris.
To reset the PIN, open the app.
We have no branches in Norway.
We do not have a branch in Oslo.
I have no reason to doubt that the fee is five dollars.
The contract does not specify a notice period, but the law requires 30 days.
I can confirm that the fee is waived.
Yes, but I can't say how long it takes: usually a week.
There is no information desk on the second floor.
We could not have done it without you.
You are not allowed to share your PIN.
The author refuses to comment.
No data are stored on the card.
The bank refuses to give loans to students.
He does not know the answer.
They cannot help with passports.
The results are available on Monday.
The results include three cards.
The source of the money must be declared.
Access is granted by the administrator.
I have attached the form.
I found the fee in the price list.
You need more information: call the branch.
It is clear from the contract that the fee is due.
It is not clear that a fee applies, although the contract says 5 USD.
The request cannot be made online.
The information is available on page three.
The text states that the fee is due monthly.
Do not answer unknown callers.
The answer is available in the FAQ.
We are not open on Sundays.
I am not a lawyer, but the contract is valid.
Your question is answered in section two: the fee is due.
The context is a loan contract.
Without further details: yes.
The cat is on the table.
We do not share your data with third parties.
The app does not store passwords.
You can't open a second account.
I can tell you that the fee is waived.
The manual does not need to be printed.
It isn't allowed to park here.
Parking is not permitted.
Children are not allowed.
The card can't be used without a PIN.
There are no hidden costs.
There is no way to cancel online.
I do not recommend the Silver card.
I don't think so.
I doubt it.
We never ask for your password.
I am happy to confirm that the fee is waived.
The order was not found in our warehouse and will be refunded.
The founder is not known by name; he signed as Q.
The documents are stored for ten years.
No. The Gold card is.
Nobody knows.
The information provided must be true.
The data provided by the customer is checked.
The request is processed within two days.
I know that the bank opened in Oslo.
I don't mind.
They do not have an answer to that.
Some banks do not disclose their fees.
It is not true.
""".strip().splitlines()


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_seen(answer: str) -> None:
    assert is_refusal(answer, "How many branches had the bank in 2023?")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer, "What is the fee?")


@pytest.mark.parametrize("answer", ["", " \n", "...", "👍", "¿?", "\u200b"])
def test_a_text_without_words_is_no_refusal(answer: str) -> None:
    assert not is_refusal(answer)


def test_a_number_of_the_question_may_be_repeated_and_a_new_one_is_content() -> None:
    refusal = "I don't know the fee of 2023."
    assert is_refusal(refusal, "What was the fee in 2023?")
    assert not is_refusal(refusal, "What was the fee last year?")


def test_case_line_breaks_and_marks_do_not_matter() -> None:
    assert is_refusal("I DON'T\tKNOW")
    assert is_refusal("I'm sorry.\n\n_I can't help with that._\n")


def test_phrases_of_an_application_are_refusals_in_any_language() -> None:
    phrases = ["Dokumenty na tuto otázku neodpovídají", ""]
    assert is_refusal("Je nám líto. Dokumenty na  tuto otázku NEODPOVÍDAJÍ.", phrases=phrases)
    assert not is_refusal("Dokumenty na tuto otázku neodpovídají, ale poplatek je 5 USD.", phrases=phrases)
    assert not is_refusal("Poplatek je 5 USD.", phrases=phrases)
    assert not is_refusal("Bohužel nevím."), "other languages than English need phrases"


def test_a_long_text_is_no_refusal() -> None:
    assert not is_refusal("I don't know. " * (MAX_CHARS // 14 + 1))
