// A zip archive of files that are compressed already: images are stored as they are.

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});
const DAY = 0x21; // 1 January 1980, the first that a zip can name

function checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRCS[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

// Numbers of two or four bytes, the least byte first.
function record(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let place = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(place, value, true);
    else view.setUint32(place, value, true);
    place += size;
  }
  return new Uint8Array(view.buffer);
}

// files: [{ name, bytes }]
export function zip(files) {
  const parts = [], listing = [];
  let place = 0;
  for (const { name, bytes } of files) {
    const title = new TextEncoder().encode(name);
    const utf8 = 0x0800;
    const known = [[2, 20], [2, utf8], [2, 0], [2, 0], [2, DAY], [4, checksum(bytes)],
      [4, bytes.length], [4, bytes.length], [2, title.length], [2, 0]];
    const local = record([4, 0x04034b50], ...known);
    listing.push(record([4, 0x02014b50], [2, 20], ...known, [2, 0], [2, 0], [2, 0], [4, 0],
      [4, place]), title);
    parts.push(local, title, bytes);
    place += local.length + title.length + bytes.length;
  }
  const listed = listing.reduce((sum, part) => sum + part.length, 0);
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length],
    [4, listed], [4, place], [2, 0]);
  return new Blob([...parts, ...listing, end], { type: "application/zip" });
}
