// Gemini by its own protocol: the first call of each turn carries a thought signature, which is required back.
import { isFiller, turnAfter } from './scenario.ts'
import { type Provider, Refused } from './server.ts'

interface Part {
  text?: string
  thought?: boolean
  functionCall?: { name: string; args: object }
  thoughtSignature?: string
}

export const gemini: Provider = {
  answersIn({ contents, tools }: { contents: Array<{ role: string; parts: Part[] }>; tools?: unknown }) {
    if (/"\$ref"|"oneOf"/.test(JSON.stringify(tools ?? [])))
      throw new Refused('Invalid JSON payload received. Unknown name "$ref"')
    const answers = contents.filter(({ role, parts }) => role === 'model' && !isFiller(parts[0]?.text))
    for (const [at, { parts }] of answers.entries()) {
      const [first] = parts.filter(({ functionCall }) => functionCall !== undefined)
      if (first !== undefined && first.thoughtSignature !== `SIG-${at}`) {
        throw new Refused(
          `Function call is missing a thought_signature in functionCall parts. Function call ${first.functionCall?.name}, position ${at}.`,
        )
      }
    }
    return answers.length
  },
  answer(answers) {
    const { reasoning, text, calls } = turnAfter(answers)
    const parts: Part[] = [
      { text: reasoning, thought: true },
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, args }, index) => ({
        functionCall: { name, args },
        ...(index === 0 ? { thoughtSignature: `SIG-${answers}` } : {}),
      })),
    ]
    const usageMetadata = { promptTokenCount: 9_000, candidatesTokenCount: 5, totalTokenCount: 9_005 }
    return [
      { data: { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }], usageMetadata } },
    ]
  },
}
