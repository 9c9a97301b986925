/**
 * What others hear of a consumer's messages: the stream, which may keep messages only until they are settled; whoever
 * publishes advisories and samples; and whoever puts away the messages that nobody could handle. Each is `null` where
 * nobody is to hear.
 */

/** The stream, when it keeps messages only for its consumers. */
export interface SettlementListener {
  /**
   * The consumer needs this message no more: it was acknowledged, terminated, or delivered where nothing is acknowledged.
   * It may have been before. Not called when deliveries are exhausted or the message is gone.
   */
  settled(sequence: number): void;
  /** Calls back when what became of settled messages so far is durable. */
  whenDurable(done: () => void): void;
}

/** Who tells the world. */
export interface ConsumerEvents {
  acknowledged(sequence: number, consumerSequence: number, deliveries: number): void;
  naked(sequence: number, consumerSequence: number, deliveries: number): void;
  /** `reason`: a string of bytes, '' when none was given. */
  terminated(sequence: number, consumerSequence: number, deliveries: number, reason: string): void;
  exhausted(sequence: number, deliveries: number): void;
}

export type LeaveReason = 'exhausted' | 'terminated';

/** `isElsewhere`: somebody else has the message now. */
export type Leave = (isElsewhere: boolean) => void;

/** Who has to have a message before it leaves the consumer unhandled. */
export interface DeadLetterGate {
  /** Calls back, at once or later, when the message may leave. Until then it is neither delivered nor settled. */
  leave(sequence: number, deliveries: number, reason: LeaveReason, text: string, done: Leave): void;
  /** The consumer serves nobody any more: nothing may leave. */
  stop(): void;
}
