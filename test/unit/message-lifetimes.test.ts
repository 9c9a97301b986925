/** What a checkpoint keeps of the lives of messages. The rest is told in `test/property/message-lifetimes.test.ts`. */
import { expect, it } from 'vitest';
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import type { StoreListener } from '../../jetstream/store/store.ts';
import { MessageLifetimes } from '../../jetstream/stream/message-lifetimes.ts';
import { PublishHeaders } from '../../jetstream/stream/publish-headers.ts';
import { decodeStreamRequest, type StreamRequest } from '../../jetstream/stream/stream-config.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { messageOf } from '../helpers/store-messages.ts';

const HEADERS = 'NATS/1.0\r\nNats-TTL: 2\r\n\r\n';

it('a message on its way out is in a checkpoint, since the way may be cut', () => {
  const world = new SimulatedWorld(1);
  const { io } = world.machine('site').start();
  const heard: { lifetimes: MessageLifetimes | null } = { lifetimes: null };
  const listener: StoreListener = {
    stored: () => heard.lifetimes?.messagesChanged(),
    removed: (sequence) => heard.lifetimes?.removed(sequence),
    purged: (below) => heard.lifetimes?.purged(below),
  };
  const store = new MemoryStore(io.timers, listener, 1);
  const saved: Buffer[] = [];
  const markers: string[] = [];
  const make = (): MessageLifetimes => {
    const lifetimes = new MessageLifetimes(io, store, (marker) => {
      markers.push(marker.subjectText());
      saved.push(lifetimes.encode(store.lastSequence));
      return true;
    });
    const { config } = decodeStreamRequest('{"name":"S"}', true) as StreamRequest;
    lifetimes.configure({ ...config, allowMsgTtl: true, subjectDeleteMarkerTtlNs: 1e9 });
    heard.lifetimes = lifetimes;
    return lifetimes;
  };
  const first = make();
  first.start();
  const message = messageOf('a', 'x', HEADERS);
  const headers = new PublishHeaders();
  headers.read(message.body, message.bodyStart, message.payloadStart);
  const time = { seconds: Math.floor(io.clock.wallMs() / 1000), nanoseconds: 0 };
  first.stored(store.append(message, time), time, headers);
  world.scheduler.runFor(3000);
  expect(markers).toEqual(['a']);
  // The marker was never stored: after a restart it is the message's turn again, at once.
  first.stop();
  const second = make();
  second.decode(saved[0] as Buffer);
  second.start();
  world.scheduler.runFor(100);
  expect(markers).toEqual(['a', 'a']);
  // Of a message that the checkpoint does not reflect it says nothing.
  expect(first.encode(0)).toHaveLength(0);
});
