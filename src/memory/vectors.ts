// Vectors: stored as 32-bit floats, little-endian, in base64.

/** Cosine of two vectors, limited to 0…1: opposite vectors count as unrelated. */
export function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let [product, squaresA, squaresB] = [0, 0, 0]
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] as number, b[at] as number]
    product += x * y
    squaresA += x * x
    squaresB += y * y
  }
  if (squaresA === 0 || squaresB === 0) return 0
  return Math.min(1, Math.max(0, product / Math.sqrt(squaresA * squaresB)))
}

export function vectorToText(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * 4)
  return bytes.toString('base64')
}

export function vectorFromText(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4))
}
