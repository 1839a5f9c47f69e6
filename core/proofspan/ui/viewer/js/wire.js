// Carries details, parts of the page rendered more finely, between viewer and server, so that nothing else of the
// page script runs again for them. It shows nothing.
export default function ({ data, setTriggerValue }) {
  if (!data || !data.length) return;
  const [header, bytes] = unpacked(data);
  const wire = wireOf(header.key);
  wire.ask = (request) => setTriggerValue("ask", request);
  if (header.asked) wire.take?.(header, bytes);
}
