// The request of a webhook as Standard Webhooks have it (https://www.standardwebhooks.com): three headers and a signature over the body.
import { createHmac } from 'node:crypto'

export interface PostedMessage {
  /** The same for each try, so that the receiver can recognize a repetition. */
  id: string
  body: string
  /** Epoch milliseconds of this try. */
  at: number
}

export function signedHeaders({ id, body, at }: PostedMessage, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'errand',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
