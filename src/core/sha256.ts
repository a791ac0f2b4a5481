// Digests of texts. `node:crypto` is loaded with the first one: it takes as long as all schemas that a program makes at its start, and most
// programs start without a digest.
import { once } from './once.ts'

const crypto = once(() => process.getBuiltinModule('node:crypto'))

/** The SHA-256 of a text, in 64 hexadecimal digits. */
export function sha256(text: string): string {
  return crypto().hash('sha256', text)
}
