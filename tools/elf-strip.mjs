/**
 * Removes from an ELF executable what only a debugger reads, as `strip` does; binutils is not on every machine that
 * builds petiole, and Node's symbols are an eighth of its size.
 *
 *     before   | header | program | loaded sections | .debug_* .symtab .strtab | .shstrtab | section headers |
 *     after    | header | program | loaded sections | .shstrtab | section headers |
 *
 * Only the form that linkers produce is handled: 64-bit, little-endian, all loaded sections in front of the others.
 * Then the loaded bytes and the indices of their sections stay as they are, and the rest is cut off. Any other form is
 * refused. It must happen before anything is injected into the executable: what was injected would be cut off too.
 */

/** Offsets in the file header. */
const header = { class: 4, data: 5, sectionOffset: 0x28, sectionSize: 0x3a, sectionCount: 0x3c, namesIndex: 0x3e };
/** Offsets in a section header of 64 bytes. */
const section = { name: 0, type: 4, flags: 8, offset: 24, size: 32, link: 40, bytes: 64 };
const typeNoBits = 8;
const typeStringTable = 3;
const flagLoaded = 2;

/** A copy of the executable without symbols and debug sections. */
export function stripElf(file) {
  const isElf64 = file.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1')) && file[header.class] === 2;
  if (!isElf64 || file[header.data] !== 1) throw new Error('not a 64-bit little-endian ELF file');
  if (file.readUInt16LE(header.sectionSize) !== section.bytes) throw new Error('ELF section headers of unknown size');

  const sections = readSections(file);
  const count = sections.findLastIndex((entry) => (entry.flags & flagLoaded) !== 0) + 1;
  const kept = sections.slice(0, count);
  if (kept.slice(1).some((entry) => (entry.flags & flagLoaded) === 0)) throw new Error('ELF sections in unknown order');
  if (kept.some((entry) => entry.link >= count)) throw new Error('a loaded ELF section refers to one that is not');

  const end = Math.max(...kept.map((entry) => (entry.type === typeNoBits ? entry.offset : entry.offset + entry.size)));
  const names = sections[file.readUInt16LE(header.namesIndex)];
  const namesBytes = file.subarray(names.offset, names.offset + names.size);
  const tableOffset = Math.ceil((end + namesBytes.length) / 8) * 8;

  const out = Buffer.alloc(tableOffset + (count + 1) * section.bytes);
  file.copy(out, 0, 0, end);
  namesBytes.copy(out, end);
  for (const [index, entry] of kept.entries()) entry.raw.copy(out, tableOffset + index * section.bytes);
  const last = tableOffset + count * section.bytes;
  names.raw.copy(out, last);
  out.writeUInt32LE(typeStringTable, last + section.type);
  out.writeBigUInt64LE(BigInt(end), last + section.offset);

  out.writeBigUInt64LE(BigInt(tableOffset), header.sectionOffset);
  out.writeUInt16LE(count + 1, header.sectionCount);
  out.writeUInt16LE(count, header.namesIndex);
  return out;
}

function readSections(file) {
  const start = Number(file.readBigUInt64LE(header.sectionOffset));
  return Array.from({ length: file.readUInt16LE(header.sectionCount) }, (_, index) => {
    const raw = file.subarray(start + index * section.bytes, start + (index + 1) * section.bytes);
    return {
      raw,
      type: raw.readUInt32LE(section.type),
      flags: Number(raw.readBigUInt64LE(section.flags) & 0xffn),
      offset: Number(raw.readBigUInt64LE(section.offset)),
      size: Number(raw.readBigUInt64LE(section.size)),
      link: raw.readUInt32LE(section.link),
    };
  });
}
