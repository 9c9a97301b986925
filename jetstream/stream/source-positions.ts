/**
 * Up to where a stream has got of each of its sources: by index name, the sequence in the origin of the last message that
 * came from it, and the origin's identity.
 *
 *     message appended ─► noted ─visible─► durable position ─► checkpoint
 *                         └── where the source goes on while the server runs
 *
 * The positions belong to the messages: what is noted of messages that are not durable yet is not part of a checkpoint,
 * and behind a checkpoint the headers of the messages in the log say the rest. Positions outlast the messages themselves.
 *
 * Bounds: one per source; notes of messages that are not visible yet, as many as the store has of them.
 */

import { Buffer } from 'node:buffer';

export interface SourcePosition {
  readonly sequence: number;
  /** Empty: unknown. */
  readonly identity: string;
}

interface Note extends SourcePosition {
  /** The stream's own sequence with which this becomes durable. */
  readonly by: number;
  readonly indexName: string;
}

export class SourcePositions {
  private readonly current = new Map<string, SourcePosition>();
  private readonly durable = new Map<string, SourcePosition>();
  private notes: Note[] = [];
  /** Notes before this one are settled. */
  private firstNote = 0;

  /** Where the source by this index name stands; `null`: nothing has come from it. */
  of(indexName: string): SourcePosition | null {
    return this.current.get(indexName) ?? null;
  }

  /** The same, of what is durable. */
  durableOf(indexName: string): SourcePosition | null {
    return this.durable.get(indexName) ?? null;
  }

  /** The source stands there as soon as the stream's own message with the sequence `by` is visible. */
  note(by: number, indexName: string, sequence: number, identity: string): void {
    const note = { by, indexName, sequence, identity };
    this.notes.push(note);
    this.current.set(indexName, note);
  }

  /** The source stands there, by what is in the stream. */
  restore(indexName: string, sequence: number, identity: string): void {
    const position = { sequence, identity };
    this.current.set(indexName, position);
    this.durable.set(indexName, position);
  }

  /** The source has become another one: what is noted from now on replaces what is durable. */
  forget(indexName: string): void {
    this.current.delete(indexName);
  }

  /** Messages up to this sequence are visible. */
  stored(toSequence: number): void {
    const { notes } = this;
    for (; this.firstNote < notes.length; this.firstNote++) {
      const { by, indexName, sequence, identity } = notes[this.firstNote] as Note;
      if (by > toSequence) break;
      // A source that was left meanwhile is not brought back.
      if (this.current.has(indexName)) this.durable.set(indexName, { sequence, identity });
    }
    if (this.firstNote * 2 < notes.length) return;
    this.notes = notes.slice(this.firstNote);
    this.firstNote = 0;
  }

  /** Forgets all sources but these. */
  keepOnly(indexNames: readonly string[]): void {
    const kept = new Set(indexNames);
    for (const positions of [this.current, this.durable]) {
      for (const indexName of positions.keys()) if (!kept.has(indexName)) positions.delete(indexName);
    }
  }

  /** What a checkpoint keeps that reflects messages up to `lastSequence`; empty without sources. */
  encode(lastSequence: number): Buffer {
    this.stored(lastSequence);
    if (this.durable.size === 0) return Buffer.alloc(0);
    const entries = [...this.durable].map(([indexName, { sequence, identity }]) => [indexName, sequence, identity]);
    return Buffer.from(JSON.stringify(entries), 'latin1');
  }

  decode(encoded: Buffer): void {
    if (encoded.length === 0) return;
    const entries = JSON.parse(encoded.toString('latin1')) as [string, number, string][];
    for (const [indexName, sequence, identity] of entries) this.restore(indexName, sequence, identity);
  }
}
