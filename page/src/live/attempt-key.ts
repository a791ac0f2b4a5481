// One key for one wish: repeated after an answer that never came, it is the same request, and is done once.

const keyBytes = 16

/** Gives the same key for the same content as before, and a new one for any other. */
export function attemptKeys(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): (content: unknown) => string {
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
