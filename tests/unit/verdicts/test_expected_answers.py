"""Compare answers with expected answers."""
# ruff: noqa: E501 - a case is a line

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.diagnosis.claims.types import CheckedClaim, Claim, ClaimDifference
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.verdicts.expected import MOST_ANSWER, compare_expected
from proofspan.diagnosis.verdicts.types import Correct, Correctness

#: A corpus whose words are as rare as those of most corpora of a hundred chunks.
_SURVEY = Corpus({str(number): "the car and its engine have a battery" for number in range(9)}).survey


def _compare(
    question: str, expected: str | None, answer: str, *, is_refusal: bool = False, quote: str = ""
) -> Correctness:
    spans = (GoldSpan("manual", 3, quote),) if quote else ()
    gold = GoldQuestion("Q1", question, answer=expected, spans=spans)
    found = compare_expected(answer, gold, question=question, is_refusal=is_refusal, survey=_SURVEY)
    for marks, text in ((found.answer_marks, answer), (found.expected_marks, expected or "")):
        assert all(0 <= start < end <= len(text) for start, end in marks)
    return found


#: Question, expected answer, answer, verdict.
_FIGURES: list[tuple[str, str, str, Correct]] = [
    ("How much oil fits in?", "4.5 litres.", "4.5 litres", "correct"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 4.5 litres of oil at a change.", "correct"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 4.8 litres of oil.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 5.4 litres of oil.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "The oil needs 4,500 ml.", "correct"),
    ("How much oil fits in?", "4.5 litres.", "Ask a workshop how the oil of this engine has to be changed.", "wrong"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.684 billion.", "correct"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.7 billion.", "partly"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.68 billion.", "correct"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2,864 million.", "wrong"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2,684 billion.", "wrong"),
    ("What is net PPE in USD billions?", "$8.70", "Net PPE was $8.738 billion.", "correct"),
    ("What is net PPE (in USD millions)?", "$12645.00", "It is $12,645 million.", "correct"),
    ("What is net PPE (in USD millions)?", "$12645.00", "It is $12,465 million.", "wrong"),
    ("By how much did the cost change?", "It fell from 24.6% to 21.6%.", "The cost fell from 24.6% to 21.6%, by 3 points.", "correct"),
    ("By how much did the cost change?", "It fell from 24.6% to 21.6%.", "The cost fell from 24.6% to 22.6%.", "wrong"),
    ("Was there a drop in cash?", "Yes, a decline of ~42%.", "Yes, cash dropped from $1,874 million to $1,093 million.", "correct"),
    ("How long must I wait?", "90 minutes", "You have to wait 1.5 hours.", "correct"),
    ("How long must I wait?", "Five minutes.", "Wait for 5 minutes before you look.", "correct"),
    ("How long must I wait?", "Five minutes.", "Wait for 15 minutes before you look.", "wrong"),
    ("How often is the filter changed?", "Once a year.", "The filter is changed annually.", "unknown"),
    ("How often is the filter changed?", "Every 12 months.", "The filter is changed once a year.", "unknown"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years, instead of 60,000 km.", "Every 20,000 km or 2 years.", "correct"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years.", "The filter is changed every 20,000 km.", "partly"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years.", "The filter is changed every 20,000 km or 3 years.", "wrong"),
    ("How tight are the bolts, and when are they checked?", "110 Nm, checked after 50 km.", "Tighten the bolts to 110 Nm and have them checked after 50 km.", "correct"),
    ("Which pressure do the rear tyres need?", "2.9 bar at the rear, 2.6 bar in front.", "Rear tyres: 2.9 bar, front tyres: 2.6 bar", "correct"),
    ("How wide is the gate?", "About 4 m.", "The gate is 4.1 m wide.", "correct"),
    ("At what depth are winter tyres replaced?", "At 4 mm.", "Replace summer tyres at 3 mm and winter tyres at 4 mm.", "correct"),
    ("How much oil does the diesel take?", "5.1 litres.", "The diesel takes 4.3 litres, while the petrol engine takes 5.1 litres.", "unknown"),
    ("How long do I wait before I read the dipstick?", "Five minutes.", "A musty smell goes away if the fan runs five minutes more.", "wrong"),
    ("What was the change in sales?", "-3.2%", "Sales decreased by 3.2%.", "correct"),
    ("What was the change in sales?", "-3.2%", "Sales changed by 3.2%.", "unknown"),
]  # fmt: skip
_DATES: list[tuple[str, str, str, Correct]] = [
    ("When was the plant opened?", "12 May 1998", "The plant was opened on May 12, 1998.", "correct"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened on 12.05.1998.", "correct"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened on 21 May 1998.", "wrong"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened in 1989.", "wrong"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened in 1998.", "partly"),
    ("When was the plant opened?", "In 1998.", "The plant was opened on 12 May 1998.", "correct"),
    ("Which year had the most sales?", "2019", "Sales were highest in 2021.", "wrong"),
]  # fmt: skip
_POLARITY: list[tuple[str, str, str, Correct]] = [
    ("May I tow a trailer?", "Yes.", "Yes, you may tow a trailer.", "correct"),
    ("May I tow a trailer?", "Yes.", "No, you may not.", "wrong"),
    ("May I tow a trailer?", "No.", "You may not tow a trailer with this car.", "correct"),
    ("May I tow a trailer?", "Yes.", "You may not tow a trailer with this car.", "wrong"),
    ("May I tow a trailer?", "Yes.", "You may tow a trailer with this car.", "correct"),
    ("May I tow a trailer?", "Yes.", "The hitch is red.", "unknown"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "Yes, it helps from 30 cm.", "correct"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "No, it only helps from 30 cm.", "wrong"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "Yes, it helps from 50 cm.", "wrong"),
    ("Darf ich einen Anhänger ziehen?", "Nein.", "Nein, das dürfen Sie nicht.", "correct"),
    ("Darf ich einen Anhänger ziehen?", "Nein.", "Ja, Sie dürfen einen Anhänger ziehen.", "wrong"),
    ("Puis-je tracter une remorque ?", "Oui.", "Non, ce n'est pas permis.", "wrong"),
    ("Puis-je tracter une remorque ?", "Oui.", "Oui, jusqu'à 750 kg.", "correct"),
]  # fmt: skip
_NAMES: list[tuple[str, str, str, Correct]] = [
    ("Who wrote the report?", "Maria Keller", "The report was written by Maria Keller.", "correct"),
    ("Who wrote the report?", "Maria Keller", "Maria Keller", "correct"),
    ("Who wrote the report?", "Maria Keller", "The report was written by Jonas Weber.", "wrong"),
    ("Who wrote the report?", "Maria Keller is an engineer who likes sailing and has run the lab since May.", "Maria Keller", "correct"),
    ("Where is the plant?", "In Lyon and Toulouse.", "The plant is in Lyon.", "partly"),
    ("Where is the plant?", "In Lyon, France.", "It is in Hamburg, Germany.", "wrong"),
    ("Where is the lake?", "In Southeast Norway.", "The lake is in South East Norway.", "correct"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 0W-20.", "correct"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 5W-30.", "wrong"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 0W20.", "correct"),
]  # fmt: skip
_LISTS: list[tuple[str, str, str, Correct]] = [
    ("Which colours are there?", "Red, green and blue.", "There are blue, red and green.", "correct"),
    ("Which colours are there?", "Red, green and blue.", "There are red and green ones.", "partly"),
    ("Which metals are used?", "Copper, zinc, tin and lead.", "- tin\n- lead\n- zinc\n- copper", "correct"),
    ("Which metals are used?", "Copper, zinc, tin and lead.", "Copper and zinc are used.", "partly"),
    ("What do I need?", "A jack, a wrench and gloves.", "You need gloves, a wrench and a jack.", "correct"),
    ("Which companies did they buy?", "- Norvik Foods\n- Altana Glass\n- Pemberton Mills", "They bought Altana Glass, Norvik Foods and Pemberton Mills.", "correct"),
    ("Which companies did they buy?", "- Norvik Foods\n- Altana Glass\n- Pemberton Mills", "They bought Altana Glass in May and Norvik Foods in June.", "partly"),
]  # fmt: skip
_TEXTS: list[tuple[str, str, str, Correct]] = [
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push on its left edge until you hear a click and pull the handle out.", "correct"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push the right edge until it clicks, then pull the handle.", "wrong"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push the left edge until it clicks.", "partly"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "The warranty covers paint and rust for many years after delivery.", "wrong"),
    ("Why does the lamp flash?", "Because the sensor is dirty.", "The lamp flashes since there is dirt on the sensor.", "correct"),
    ("Which way is it turned?", "Clockwise.", "Turn it anticlockwise.", "wrong"),
    ("Which way is it turned?", "Anticlockwise; it has a left-hand thread.", "It is screwed in anticlockwise.", "correct"),
    ("Is gross margin useful here?", "Performance is not measured through gross margin.", "Gross margin is not a useful measure of the performance of a bank.", "correct"),
    ("What does the valve do?", "It releases pressure when the tank is too hot.", "It lets excess steam out once the temperature climbs.", "unknown"),
    ("What is the gasket made of?", "Rubber.", "An elastomer.", "unknown"),
    ("Is the cover removable?", "The cover cannot be removed.", "The cover can be removed.", "wrong"),
    ("Wie öffne ich die Klappe?", "Drücken Sie den linken Rand, bis er einrastet.", "Den linken Rand drücken, bis er einrastet.", "correct"),
    ("Wie viel Öl passt hinein?", "4,5 Liter.", "Es passen 4,5 l Öl hinein.", "correct"),
    ("Wie viel Öl passt hinein?", "4,5 Liter.", "Es passen 5,4 l Öl hinein.", "wrong"),
    ("Quelle est la pression des pneus ?", "2,4 bars.", "La pression des pneus est de 2,4 bars.", "correct"),
    ("Quelle est la pression des pneus ?", "2,4 bars.", "La pression des pneus est de 2,9 bars.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "Es passen 4,5 Liter Öl hinein.", "correct"),
    ("What does the valve do?", "It releases pressure when the tank is too hot.", "Das Ventil lässt den Druck ab, wenn der Tank zu heiß ist.", "unknown"),
]  # fmt: skip
#: Questions and answers of all kinds, as people ask them of manuals and reports.
_MIXED: list[tuple[str, str, str, Correct]] = [
    ("Why did the bridge close?", "It was closed because corrosion had weakened its cables.", "Engineers found that rust had made the cables too weak.", "unknown"),
    ("How do I reset the alarm?", "Hold the grey button down until the light goes off.", "Keep pressing the grey key until the lamp is out.", "unknown"),
    ("What should I do if the belt squeals?", "Have the tension checked by a dealer.", "Ask your garage to look at how tight it is.", "unknown"),
    ("Can I wash the cover?", "Yes, by hand in cold water.", "The cover can be washed by hand in cold water.", "correct"),
    ("Can I wash the cover?", "Yes, by hand in cold water.", "It must not be washed.", "wrong"),
    ("Can I wash the cover?", "No, wipe it with a damp cloth.", "Do not wash the cover; wipe it with a damp cloth.", "correct"),
    ("Can I wash the cover?", "No, wipe it with a damp cloth.", "Yes, you can wash it at 40 degrees.", "wrong"),
    ("Is a licence required?", "A licence is not required.", "No licence is required.", "correct"),
    ("Is a licence required?", "A licence is not required.", "You need a licence.", "unknown"),
    ("Is a licence required?", "No", "No licence is needed.", "unknown"),
    ("Is a licence required?", "No", "You do not need one.", "unknown"),
    ("When does the shop open?", "At 9 am.", "The shop opens at 9:00.", "correct"),
    ("When does the shop open?", "At 9 am.", "The shop opens at 10 am.", "wrong"),
    ("When does the shop open?", "At 9 am.", "The shop opens at 9 pm.", "wrong"),
    ("How many seats are there?", "Seven", "There are 7 seats.", "correct"),
    ("How many seats are there?", "Seven", "There are five seats.", "wrong"),
    ("How many seats are there?", "7", "seven", "correct"),
    ("How heavy is it?", "1,200 kg", "It weighs 1.2 tonnes.", "correct"),
    ("How heavy is it?", "1,200 kg", "It weighs 1.2 kg.", "wrong"),
    ("How heavy is it?", "1,200 kg", "About 2,650 pounds.", "partly"),
    ("How fast can it go?", "120 km/h", "It can go up to 120 km/h; with a trailer only 80 km/h.", "correct"),
    ("How fast can it go?", "120 km/h", "With a trailer it can go 120 km/h; otherwise 180 km/h.", "correct"),
    ("What voltage does it use?", "230 V", "It runs on mains power.", "unknown"),
    ("What is the capital of the region?", "Innsbruck", "The capital is Innsbruck.", "correct"),
    ("What is the capital of the region?", "Innsbruck", "The capital is Salzburg.", "wrong"),
    ("What is the capital of the region?", "Innsbruck", "Salzburg", "unknown"),
    ("Who founded the company?", "Anna Meier and Paul Roth founded it in 1987.", "Anna Meier and Paul Roth founded the company.", "correct"),
    ("Who founded the company?", "Anna Meier and Paul Roth founded it in 1987.", "It was founded by Anna Meier and Paul Roth in 1978.", "wrong"),
    ("Who founded the company?", "Anna Meier and Paul Roth founded it in 1987.", "Paul Roth founded it in 1987.", "partly"),
    ("Who founded the company?", "Anna Meier", "A. Meier founded the company.", "partly"),
    ("Who is the CEO?", "Robert Smith", "Bob Smith is the CEO.", "partly"),
    ("Where is the fuse box?", "Under the dashboard on the driver's side.", "The fuse box is on the driver's side below the dashboard.", "correct"),
    ("Where is the fuse box?", "Under the dashboard on the driver's side.", "The fuse box is in the boot on the right.", "unknown"),
    ("Where is the fuse box?", "Under the dashboard on the driver's side.", "The fuse box is under the dashboard on the passenger's side.", "partly"),
    ("What colour is the lamp?", "Amber", "The lamp is amber.", "correct"),
    ("What colour is the lamp?", "Amber", "The lamp is red.", "unknown"),
    ("What does the red lamp mean?", "The oil pressure is too low.", "It means that the oil pressure is low.", "correct"),
    ("What does the red lamp mean?", "The oil pressure is too low.", "It means that the oil pressure is too high.", "wrong"),
    ("Which steps are needed to change the wheel?", "1. Loosen the bolts. 2. Raise the car. 3. Take the wheel off.", "First loosen the bolts, then raise the car with the jack and finally take off the wheel.", "correct"),
    ("Which steps are needed to change the wheel?", "1. Loosen the bolts. 2. Raise the car. 3. Take the wheel off.", "Raise the car and take the wheel off.", "partly"),
    ("What are the symptoms?", "Fever, cough and headache", "The symptoms are headache, fever, cough and nausea.", "correct"),
    ("What are the symptoms?", "Fever, cough and headache", "A rash.", "unknown"),
    ("Did sales rise in 2020?", "No, they fell by 4%.", "Sales fell by 4% in 2020.", "correct"),
    ("Did sales rise in 2020?", "No, they fell by 4%.", "Sales rose by 4% in 2020.", "wrong"),
    ("Did sales rise in 2020?", "Yes, by 4%.", "Sales fell by 4% in 2020.", "wrong"),
    ("Did sales rise in 2020?", "Yes, by 4%.", "Sales rose 4%, from $50 million to $52 million.", "correct"),
    ("What was EPS in 2021?", "$3.52", "Diluted earnings per share were $3.52 in 2021, compared with $2.98 in 2020.", "correct"),
    ("What was EPS in 2021?", "$3.52", "Diluted EPS was $2.98 in 2021, compared with $3.52 in 2020.", "wrong"),
    ("What was EPS in 2021?", "$3.52", "EPS was 3.5 dollars.", "partly"),
    ("What is the gross margin?", "43.2%", "The gross margin was 0.432.", "correct"),
    ("What is the gross margin?", "43.2%", "The gross margin was 43%.", "partly"),
    ("What is the gross margin?", "43.2%", "The gross margin was 34.2%.", "wrong"),
    ("What was net income?", "A loss of $12 million.", "Net income was $(12) million.", "correct"),
    ("What was net income?", "A loss of $12 million.", "Net income was $12 million.", "unknown"),
    ("What was net income?", "$12 million", "The company had a net loss of $12 million.", "unknown"),
    ("Wie hoch ist der Reifendruck?", "2,5 bar", "Der Reifendruck beträgt 2,5 bar.", "correct"),
    ("Wie hoch ist der Reifendruck?", "2,5 bar", "Der Reifendruck beträgt 2,3 bar.", "wrong"),
    ("Wann wurde das Werk eröffnet?", "Am 3. Mai 1999", "Das Werk wurde im Mai 1999 eröffnet.", "partly"),
    ("Wann wurde das Werk eröffnet?", "Am 3. Mai 1999", "Das Werk wurde am 3.5.1999 eröffnet.", "correct"),
    ("Wann wurde das Werk eröffnet?", "Am 3. Mai 1999", "Das Werk wurde am 5. März 1999 eröffnet.", "wrong"),
    ("Wer leitet die Abteilung?", "Frau Schulz", "Die Abteilung wird von Frau Schulz geleitet.", "correct"),
    ("Wer leitet die Abteilung?", "Frau Schulz", "Die Abteilung wird von Herrn Krause geleitet.", "unknown"),
    ("Darf das Gerät im Freien benutzt werden?", "Nein, nur in Innenräumen.", "Nein, das Gerät darf nur in Innenräumen benutzt werden.", "correct"),
    ("Darf das Gerät im Freien benutzt werden?", "Nein, nur in Innenräumen.", "Das Gerät darf nicht im Freien benutzt werden.", "partly"),
    ("Quelle est la capacité du réservoir ?", "45 litres", "Le réservoir contient 45 litres.", "correct"),
    ("Quelle est la capacité du réservoir ?", "45 litres", "Le réservoir contient 54 litres.", "wrong"),
    ("Qui a écrit le rapport ?", "Claire Dubois", "Le rapport a été écrit par Claire Dubois.", "correct"),
    ("Qui a écrit le rapport ?", "Claire Dubois", "Le rapport a été écrit par Marc Lefèvre.", "wrong"),
    ("Peut-on utiliser l'appareil dehors ?", "Non, seulement à l'intérieur.", "Oui, on peut l'utiliser dehors.", "wrong"),
    ("How long is the warranty?", "Two years or 60,000 km, whichever comes first.", "The warranty lasts 24 months or 60,000 km.", "correct"),
    ("How long is the warranty?", "Two years", "The warranty covers the paint.", "unknown"),
    ("How long is the warranty?", "Two years", "24 months", "correct"),
    ("How long is the warranty?", "Two years", "A couple of years.", "unknown"),
    ("What share of users agreed?", "A third", "33% of the users agreed.", "correct"),
    ("What share of users agreed?", "50%", "Half of the users agreed.", "correct"),
    ("What share of users agreed?", "50%", "More than half of them agreed.", "correct"),
    ("What is the limit?", "Less than 50 mg per day", "The limit is below 50 mg a day.", "correct"),
    ("What is the limit?", "At most 50 mg per day", "At least 50 mg per day.", "wrong"),
    ("What is the temperature range?", "-20 to 60 °C", "It works between −20 °C and +60 °C.", "correct"),
    ("What is the temperature range?", "-20 to 60 °C", "It works between 20 °C and 60 °C.", "unknown"),
    ("How does the filter work?", "Air flows through layers of paper that hold the dust back.", "The filter uses ultraviolet light to kill germs in water.", "unknown"),
    ("Explain the purpose of the clutch.", "It separates the engine from the gearbox while you change gear.", "The clutch disconnects the engine from the gearbox during gear changes.", "correct"),
    ("Assume you are a financial analyst. Use only data from the income statement and the balance sheet. What is the FY2019 fixed asset turnover ratio for Nordwerk? Round your answer to two decimal places.", "24.26", "The fixed asset turnover ratio is calculated as revenue divided by average PP&E.\n\nRevenue FY2019 = $6,489 million\nAverage PP&E = ($282 million + $253 million) / 2 = $267.5 million\n\nFixed asset turnover = 6,489 / 267.5 = 24.26\n\nTherefore, the FY2019 fixed asset turnover ratio for Nordwerk is approximately 24.26.", "correct"),
    ("Assume you are a financial analyst. Use only data from the income statement and the balance sheet. What is the FY2019 fixed asset turnover ratio for Nordwerk? Round your answer to two decimal places.", "24.26", "Revenue was $6,489 million and PP&E was $253 million. The fixed asset turnover ratio for Nordwerk in FY2019 is therefore 25.65.", "wrong"),
    ("What is the FY2017 days payable outstanding for Nordwerk?", "93.86", "DPO = 365 * average accounts payable / COGS = 93.9 days.", "correct"),
    ("What is the FY2017 days payable outstanding for Nordwerk?", "93.86", "DPO is about 94 days.", "partly"),
    ("What is the FY2017 days payable outstanding for Nordwerk?", "93.86", "DPO is 109.56 days.", "wrong"),
    ("What is the quarterly dividend in USD billions?", "$0.40", "Nordwerk paid $397 million in dividends.", "correct"),
    ("What is the total debt in USD millions?", "$1616.00", "The total debt was $1,616 million.", "correct"),
    ("What is the total debt in USD millions?", "$1616.00", "Total debt: $1.616 billion", "correct"),
    ("What is the total debt in USD millions?", "$1616.00", "Total debt was $1.6 billion", "partly"),
    ("Is Nordwerk capital-intensive?", "No, capex is only 5% of revenue.", "Based on the data, Nordwerk does not appear to be capital-intensive, since its capex is 5% of revenue.", "correct"),
    ("Is Nordwerk capital-intensive?", "No, capex is only 5% of revenue.", "Nordwerk is capital-intensive: its plants cost $3 billion.", "wrong"),
    ("Is Nordwerk capital-intensive?", "Yes, it has a low return on assets of 3%.", "No. Nordwerk's return on assets is 3%.", "wrong"),
    ("Did Nordwerk's liquidity improve?", "No, the current ratio fell from 1.57 to 1.43.", "Nordwerk's liquidity declined as the current ratio went from 1.57 to 1.43.", "correct"),
    ("Did Nordwerk's liquidity improve?", "No, the current ratio fell from 1.57 to 1.43.", "Nordwerk's liquidity improved as the current ratio went from 1.43 to 1.57.", "wrong"),
    ("Which region had the strongest growth?", "Asia, with 12%.", "Europe grew most, by 9%.", "wrong"),
    ("Which region had the strongest growth?", "Asia, with 12%.", "The strongest growth was in Asia (12%), ahead of Europe (9%).", "correct"),
    ("Which region had the strongest growth?", "Asia, with 12%.", "The strongest growth was in Europe (12%), ahead of Asia (9%).", "unknown"),
    ("What were the largest expenses?", "Cost of sales and marketing.", "The largest expenses were marketing and cost of sales.", "correct"),
    ("What were the largest expenses?", "Cost of sales and marketing.", "The largest expenses were rent and salaries.", "unknown"),
    ("Who audits the company?", "Deloitte", "Ernst & Young LLP audits the company.", "wrong"),
    ("Who audits the company?", "Deloitte", "The auditor is Deloitte & Touche LLP.", "correct"),
    ("Has the company paid dividends?", "Yes", "The company paid dividends of $1.20 per share.", "correct"),
    ("Has the company paid dividends?", "Yes", "The company has never paid dividends.", "wrong"),
    ("Has the company paid dividends?", "No", "The company has never paid dividends.", "correct"),
    ("Has the company paid dividends?", "No, it has never paid any.", "The company has not declared or paid dividends so far.", "correct"),
    ("What is the effective tax rate?", "21.6%", "The effective tax rate was 21.6% in 2022 compared to 24.6% in 2021.", "correct"),
    ("What was the effective tax rate in 2022?", "21.6%", "The effective tax rate was 24.6% in 2022 compared to 21.6% in 2021.", "wrong"),
    ("What was the effective tax rate in 2022?", "21.6%", "It was 21.6%, down from 24.6% in 2021.", "correct"),
    ("What was the effective tax rate in 2022?", "21.6%", "It was 24.6%, up from 21.6% in 2021.", "unknown"),
    ("How did margins develop?", "Gross margin increased by 0.5 percentage points to 5.3%.", "Gross margin rose from 4.8% to 5.3%.", "correct"),
    ("How did margins develop?", "Gross margin increased by 0.5 percentage points to 5.3%.", "Gross margin fell from 5.3% to 4.8%.", "wrong"),
    ("What drove the rise in sales?", "Higher prices and more volume in Europe.", "Sales rose because of price increases and higher volumes in Europe.", "correct"),
    ("What drove the rise in sales?", "Higher prices and more volume in Europe.", "Sales rose because of acquisitions in Brazil and favourable exchange rates.", "unknown"),
    ("What drove the rise in sales?", "Higher prices and more volume in Europe.", "Sales rose because of lower prices in Europe.", "wrong"),
    ("What are the company's segments?", "Automotive, Industrial and Consumer", "The company has three segments: Automotive, Industrial, and Consumer.", "correct"),
    ("What are the company's segments?", "Automotive, Industrial and Consumer", "Automotive and Industrial.", "partly"),
    ("What are the company's segments?", "Automotive, Industrial and Consumer", "Automotive, Industrial, Consumer and Health Care.", "correct"),
    ("What are the company's segments?", "Automotive, Industrial and Consumer", "Aerospace, Defence and Marine.", "unknown"),
    ("How many employees does it have?", "About 92,000", "It had approximately 92,000 employees.", "correct"),
    ("How many employees does it have?", "About 92,000", "It had 91,700 employees.", "correct"),
    ("How many employees does it have?", "About 92,000", "It had 29,000 employees.", "wrong"),
    ("How many shares were bought back?", "2.5 million", "2,500,000 shares were bought back.", "correct"),
    ("When does the lease end?", "In March 2027", "The lease runs until 31 March 2027.", "correct"),
    ("When does the lease end?", "In March 2027", "The lease runs until March 2028.", "wrong"),
    ("Who is the current CFO?", "Jane Porter, since January 2020", "Jane Porter has been CFO since January 2020.", "correct"),
    ("Who is the current CFO?", "Jane Porter, since January 2020", "Jane Porter", "correct"),
    ("Who is the current CFO?", "Jane Porter, since January 2020", "Mark Lowe has been CFO since January 2020.", "wrong"),
    ("How is the seat adjusted?", "With the lever at the front, slide it; with the wheel at the side, tilt the backrest.", "Slide the seat with the lever at the front. Tilt the backrest with the wheel at the side.", "correct"),
    ("Is the trailer covered by the insurance?", "Only if it was registered with the policy.", "It is covered only when registered with the policy.", "correct"),
    ("Is the trailer covered by the insurance?", "Only if it was registered with the policy.", "Yes, it is always covered.", "unknown"),
    ("Is the trailer covered by the insurance?", "Only if it was registered with the policy.", "No.", "unknown"),
    ("Who pays for the repair?", "The tenant pays up to 100 euros; the landlord pays the rest.", "Up to 100 euros are paid by the tenant, the remainder by the landlord.", "correct"),
    ("What happened in 1815?", "Napoleon was defeated at Waterloo.", "Wellington and Blücher beat Napoleon at Waterloo.", "partly"),
    ("What happened in 1815?", "Napoleon was defeated at Waterloo.", "Napoleon won at Waterloo.", "partly"),
    ("Which side won?", "The home team", "The visitors won.", "unknown"),
    ("What is the boiling point?", "100 °C", "212 °F", "correct"),
    ("What is the boiling point?", "100 °C", "The liquid boils at 373 K.", "unknown"),
    ("What is the length?", "5 ft", "152 cm", "correct"),
    ("How many members voted for it?", "12 of 15", "Twelve of the fifteen members voted for it.", "correct"),
    ("How many members voted for it?", "12 of 15", "Three of the fifteen members voted against it.", "wrong"),
    ("How many members voted for it?", "12 of 15", "15 of 12", "correct"),
    ("When was it signed?", "On the first of June 2004", "It was signed on 1 June 2004.", "correct"),
    ("When was it signed?", "Early 2004", "It was signed in February 2004.", "correct"),
    ("When was it signed?", "In the 1990s", "It was signed in 1995.", "unknown"),
    ("When was it signed?", "In the 1990s", "It was signed in 1985.", "unknown"),
    ("When was it signed?", "Q3 2022", "It was signed in August 2022.", "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected", "answer", "value"),
    [*_FIGURES, *_DATES, *_POLARITY, *_NAMES, *_LISTS, *_TEXTS, *_MIXED],
    ids=lambda text: str(text)[:30],
)
def test_the_answer_is_judged(question: str, expected: str, answer: str, value: Correct) -> None:
    found = _compare(question, expected, answer)
    assert found.value == value, found.reason
    assert found.reason


#: Question, expected answer, answer, quote of the gold passage, verdict.
_QUOTED: list[tuple[str, str, str, str, Correct]] = [
    ("How do I open the bonnet?", "Pull the lever under the dashboard twice.", "Two pulls on the handle below the instrument panel will release it.", "To open the bonnet, pull the release lever below the instrument panel two times.", "correct"),
    ("What if the engine overheats?", "Stop and let it cool down before you open the cap.", "Pull over and wait until it is no longer hot; only then remove the lid.", "If the coolant is too hot, stop the car. Never open the cap while it is hot.", "unknown"),
    ("What is the spare wheel for?", "Only for driving to the nearest workshop.", "It is meant to get you to a garage close by, nothing else.", "The spare wheel is for short journeys to a workshop only.", "unknown"),
    ("Can I use a pressure washer?", "Yes, but keep 30 cm away from the tyres.", "You can, as long as the nozzle stays at least 30 cm from the tyres.", "A pressure washer may be used at a distance of 30 cm or more.", "unknown"),
    ("Can I use a pressure washer?", "Yes, but keep 30 cm away from the tyres.", "Yes, you can use a pressure washer on the car.", "A pressure washer may be used at a distance of 30 cm or more.", "partly"),
    ("Can I use a pressure washer?", "Yes, but keep 30 cm away from the tyres.", "Yes, but keep 10 cm away from the tyres.", "A pressure washer may be used at a distance of 30 cm or more.", "wrong"),
    ("What powers the pump?", "A small electric motor", "An electric motor drives it.", "The pump is driven by an electric motor.", "correct"),
    ("What powers the pump?", "A small electric motor", "The camshaft drives it.", "The pump is driven by an electric motor.", "unknown"),
    ("Where do I add water?", "Into the blue tank on the left.", "Fill the blue tank, which is on the left-hand side.", "Add water to the blue tank left of the engine.", "correct"),
    ("Where do I add water?", "Into the blue tank on the left.", "Fill the red tank on the right.", "Add water to the blue tank left of the engine.", "wrong"),
    ("Where do I add water?", "Into the blue tank on the left.", "The tyres must be checked every two weeks.", "Add water to the blue tank left of the engine.", "unknown"),
    ("What should the driver do?", "Do not brake; steer straight.", "Keep the wheel straight and avoid braking.", "Steer straight ahead and do not brake.", "unknown"),
    ("What should the driver do?", "Do not brake; steer straight.", "Brake hard and steer to the side.", "Steer straight ahead and do not brake.", "partly"),
    ("Which gear is used on hills?", "Second gear", "Use 2nd gear.", "Use second gear on steep hills.", "correct"),
    ("Which gear is used on hills?", "Second gear", "Use third gear.", "Use second gear on steep hills.", "wrong"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected", "answer", "quote", "value"), _QUOTED, ids=lambda text: text[:30]
)
def test_the_gold_passage_is_read_beside_the_expected_answer(
    question: str, expected: str, answer: str, quote: str, value: Correct
) -> None:
    found = _compare(question, expected, answer, quote=quote)
    assert found.value == value, found.reason


def test_what_differs_is_marked_in_both_texts() -> None:
    answer, expected = "The engine takes 4.8 litres of oil.", "4.5 litres."
    found = _compare("How much oil fits in?", expected, answer)
    assert [answer[slice(*marks)] for marks in found.answer_marks] == ["4.8 litres"]
    assert [expected[slice(*marks)] for marks in found.expected_marks] == ["4.5 litres"]
    assert found.is_figure
    assert not found.is_rounded


@pytest.mark.parametrize("answer", ["Revenue was $2.7 billion.", "Revenue was $2.68 billion."])
def test_a_rounded_figure_is_no_wrong_one(answer: str) -> None:
    found = _compare("What was the revenue?", "$2,684 million", answer)
    assert found.is_rounded
    assert not found.is_figure
    assert found.answer_marks


def test_what_is_missing_is_named() -> None:
    found = _compare("How often is the filter changed?", "Every 20,000 km or 2 years.", "Every 20,000 km.")
    assert found.missing == ("2 years",)


def test_a_refusal_is_right_only_where_there_is_no_answer() -> None:
    gold = GoldQuestion("Q1", "What does it cost?", answerable=False)
    arguments = {"question": gold.q, "survey": _SURVEY}
    assert compare_expected("not in context", gold, is_refusal=True, **arguments).value == "declined_rightly"
    assert compare_expected("It costs 5 euros.", gold, is_refusal=False, **arguments).value == "wrong"
    assert (
        _compare("What does it cost?", "5 euros.", "not in context", is_refusal=True).value
        == "declined_wrongly"
    )
    answer = "The documents do not say what it costs."
    assert _compare("What does it cost?", "5 euros.", answer).value == "declined_wrongly"
    assert _compare("What does it cost?", "The documents do not say.", answer).value == "declined_rightly"
    assert _compare("What does it cost?", "The documents do not say.", "It costs 5 euros.").value == "wrong"


def test_without_an_expected_answer_only_the_gold_passage_can_show_that_it_is_right() -> None:
    question, quote = "How do I open the flap?", "Push the left edge of the flap until it clicks."
    assert (
        compare_expected("Push it.", None, question=question, is_refusal=False, survey=_SURVEY).value
        == "unknown"
    )
    assert _compare(question, None, "Push the left edge until it clicks.").value == "unknown"
    assert _compare(question, None, "Push the left edge until it clicks.", quote=quote).value == "correct"
    assert _compare(question, None, "Pull the handle out.", quote=quote).value == "unknown"


def test_the_gold_passage_words_the_answer_as_well() -> None:
    question, expected = (
        "May I use it downhill?",
        "Only as far as the engine can brake; beyond that change down.",
    )
    quote = "Downhill, the cruise control brakes with the engine only."
    assert _compare(question, expected, quote, quote=quote).value == "correct"
    other = "Use the fog lamps only where the road is wet and dark."
    assert _compare(question, expected, other, quote=quote).value == "wrong"
    # Without a word in common, not even of the question, it may be worded otherwise.
    other = "The lamp in the boot goes out when the tailgate is closed."
    assert _compare(question, expected, other, quote=quote).value == "unknown"


def test_an_empty_answer_is_wrong() -> None:
    assert _compare("How much oil fits in?", "4.5 litres.", "  ").value == "wrong"


def test_citations_are_not_read_as_part_of_the_answer() -> None:
    answer = "The engine takes 4.8 litres. citations: [manual|4.5 litres]"
    gold = GoldQuestion("Q1", "How much oil fits in?", answer="4.5 litres.")
    blanked = answer[:28] + " " * (len(answer) - 28)
    found = compare_expected(answer, gold, question=gold.q, is_refusal=False, survey=_SURVEY, blanked=blanked)
    assert found.value == "wrong"


def test_an_answer_that_contradicts_its_evidence_is_not_correct() -> None:
    answer = "The engine takes 4.5 litres of oil."
    gold = GoldQuestion("Q1", "How much oil fits in?", answer="4.5 litres.")
    difference = ClaimDifference("number", "4.5", 17, 20, "4.8", 4, 7)
    claim = CheckedClaim(Claim(answer, 0, 35, "sentence"), "differs", 0.1, None, (difference,))
    found = compare_expected(answer, gold, question=gold.q, is_refusal=False, survey=_SURVEY, checked=[claim])
    assert found.value == "partly"
    assert found.answer_marks == ((17, 20),)


_CASES = [*_FIGURES, *_DATES, *_POLARITY, *_NAMES, *_LISTS, *_TEXTS, *_MIXED]
_WORDS = st.sampled_from(
    "pump valve lever cabin seat belt lamp fuse hose tank pedal wheel green narrow remove tighten press".split()  # noqa: SIM905
)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("The button of the heater is on the left stalk.", "wrong"),
        ("Press the button on the left stalk.", "partly"),
    ],
)
def test_a_question_for_how_needs_an_instruction(answer: str, value: Correct) -> None:
    expected = "Press the button on the left stalk, turn the wheel to MAX and hold SET for two seconds."
    assert _compare("How do I switch the heater on?", expected, answer).value == value


@given(st.sampled_from(_CASES))
def test_the_expected_answer_itself_is_correct(case: tuple[str, str, str, Correct]) -> None:
    question, expected, _, _ = case
    assert _compare(question, expected, expected).value == "correct"
    assert _compare(question, expected, f"{expected}\n").value == "correct"


@settings(max_examples=60)
@given(
    st.lists(_WORDS, min_size=1, max_size=9), st.integers(2, 99_999), st.sampled_from(["km", "kg", "%", ""])
)
def test_the_expected_answer_in_a_sentence_is_correct(words: list[str], value: int, unit: str) -> None:
    expected = f"{' '.join(words)} {value:,} {unit}".strip()
    assert _compare("How much is it?", expected, f"As the manual says: {expected}.").value == "correct"


#: Without numbered lists, whose numbers say nothing.
_FIGURED = [case for case in _CASES if any(map(str.isdigit, case[1])) and not case[1].startswith("1. ")]


@settings(max_examples=150)
@given(st.sampled_from(_FIGURED), st.data())
def test_a_changed_digit_is_never_correct(case: tuple[str, str, str, Correct], data: st.DataObject) -> None:
    question, expected, _, _ = case
    places = [place for place, char in enumerate(expected) if char.isdigit()]
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from(string.digits.replace(expected[place], "")))
    answer = expected[:place] + digit + expected[place + 1 :]
    assert _compare(question, expected, answer).value != "correct"
    assert _compare(question, expected, f"The answer to this is: {answer}").value != "correct"


@given(st.permutations(["copper", "zinc", "tin", "lead", "nickel"]))
def test_the_order_of_a_list_does_not_matter(metals: list[str]) -> None:
    question, expected = "Which metals are used?", "Copper, zinc, tin, lead and nickel."
    assert _compare(question, expected, f"{', '.join(metals[:-1])} and {metals[-1]}").value == "correct"
    assert _compare(question, expected, "\n".join(f"- {each}" for each in metals)).value == "correct"
    assert _compare(question, expected, ", ".join(metals[:3])).value == "partly"


@settings(max_examples=60)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=80))
def test_any_text_can_be_compared(answer: str, expected: str, question: str) -> None:
    found = _compare(question, expected, answer)
    assert found.reason
    same = _compare(question, expected, expected)
    assume(expected.strip())
    assert same.value in ("correct", "declined_rightly")


@pytest.mark.parametrize(
    "answer",
    [
        "The engine takes 4.8 litres. " * 70_000,
        " ".join(map(str, range(300_000))),
        "(" * 500_000,
        "instead of " * 100_000,
        "A, " * 300_000,
        "x" * 2_000_000,
        "No, it " * 200_000,
        "Maria Keller " * 100_000,
        "4,7 " * 200_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_answers_are_compared_within_bounds(answer: str) -> None:
    found = _compare("How much oil fits in?", "4.5 litres.", answer)
    assert found.value != "correct"
    assert all(end <= MOST_ANSWER for _, end in found.answer_marks)
    assert _compare("How much oil fits in?", answer, "4.5 litres.").reason
