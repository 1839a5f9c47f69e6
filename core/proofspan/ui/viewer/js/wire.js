// Carries between viewer and server what needs no other part of the page to run again: that the viewer is alive,
// and parts of the page drawn anew. It shows nothing.
export default function ({ data, setTriggerValue }) {
  if (!data || !data.length) return;
  const [header, bytes] = unpacked(data);
  const wire = wireOf(header.key);
  wire.ask = (request) => setTriggerValue("ask", request);
  wire.tellAlive = header.is_alive_known ? null : () => {
    wire.tellAlive = null;
    setTriggerValue("alive", true);
  };
  if (wire.isAlive) wire.tellAlive?.();
  if (header.asked) wire.take?.(header, bytes);
}
