// The name under which this browser writes. What is stored may be anything: the server reads it as text.
const AUTHOR = "proofspan:author";
let isGiven = false;

export default function ({ data, setTriggerValue }) {
  if (!data) return;
  try {
    if (data.name) {
      window.localStorage.setItem(AUTHOR, data.name);
      return;
    }
    const kept = window.localStorage.getItem(AUTHOR);
    if (isGiven || !kept || kept.length > data.most) return;
    isGiven = true;
    setTriggerValue("name", kept);
  } catch {
    // This browser keeps nothing for this address: the name is asked for in every visit.
  }
}
