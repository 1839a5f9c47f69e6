// What the viewer and its wire (viewer_wire.js) have in common: each is a script of its own, and they find each
// other here, whichever comes first.
const wires = (window[Symbol.for("proofspan.wires")] ??= new Map());

function wireOf(key) {
  if (!wires.has(key)) wires.set(key, {});
  return wires.get(key);
}

function unpacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return [header, bytes.subarray(4 + length)];
}
