/** What petiole says it is: the nats-server whose surface it has, and its own version. */

/** Clients decide by this what a server can do. */
export const NATS_VERSION = '2.15.2';
export const PETIOLE_VERSION = '0.1.0';
/** The level of the JetStream API; it grows with the features. */
export const API_LEVEL = 4;
