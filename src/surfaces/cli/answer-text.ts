// What a person typed as an answer: JSON where it can be read as such, else the words as they are.

export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text // not JSON: then it is what it says
  }
}

/** The answers that a question would take, if it names them. */
export function answerChoices(schema: unknown): string[] {
  const { enum: choices, type } = (schema ?? {}) as { enum?: unknown; type?: unknown }
  if (Array.isArray(choices)) return choices.map(String)
  return type === 'boolean' ? ['true', 'false'] : []
}
