// Passes on where the claims' evidence is, and asks until the server knows. It draws nothing. The data is JSON in
// UTF-8 (see `packed_places`).
const [FIRST_MS, NEXT_MS, TRIES] = [60, 400, 40];
const waits = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data || !data.length) return;
  const places = JSON.parse(new TextDecoder().decode(data));
  const name = `${places.of} ${places.viewer} ${places.id}`;
  const wait = waits.get(parentElement) ?? {};
  waits.set(parentElement, wait);
  clearTimeout(wait.timer);
  if (wait.name !== name) Object.assign(wait, { name, tries: 0 });
  if (places.is_ready) placesFound(places);
  else if (wait.tries < TRIES) {
    wait.timer = setTimeout(() => setTriggerValue("ask", wait.tries), wait.tries ? NEXT_MS : FIRST_MS);
    wait.tries += 1;
  }
  return () => {
    clearTimeout(wait.timer);
    waits.delete(parentElement);
    placesFound(null);
  };
}
