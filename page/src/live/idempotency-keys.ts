// Idempotency keys of forms: a form that is submitted again without changes repeats the same request, which is executed once.

const keyBytes = 16

/** Returns the previous key for equal content, and a new one for other content. */
export function idempotencyKeys(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): (content: unknown) => string {
  let last = { text: '', key: '' }
  return (content) => {
    const text = JSON.stringify(content)
    if (text !== last.text) last = { text, key: hex(random(new Uint8Array(keyBytes))) }
    return last.key
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
