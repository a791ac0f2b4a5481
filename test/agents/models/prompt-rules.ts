// What the strictest templates of chat models require of a prompt (Mistral, Gemma; vLLM, llama.cpp and LM Studio use them): checked on every
// prompt that a test hands over.
import type { PromptMessage } from '../../../src/agents/models/model-prompt.ts'

/** What is wrong with a prompt; empty if nothing is. */
export function brokenRules(prompt: readonly PromptMessage[]): string[] {
  const broken: string[] = []
  const called = new Set<string>()
  for (const [at, { role, content }] of prompt.entries()) {
    const before = prompt[at - 1]?.role
    const say = (what: string) => broken.push(`message ${at}: ${what}`)
    if (role === 'system' && before !== undefined && before !== 'system') say('a system message after others')
    if (role === 'user' && (before === 'user' || before === 'tool')) say(`a user message after one of role ${before}`)
    if (role === 'assistant' && (before === 'assistant' || before === 'system' || before === undefined))
      say(`an answer after ${before}`)
    if (role === 'tool' && before !== 'assistant') say(`results after ${before}`)
    if (content.length === 0) say('it is empty')
    if (typeof content === 'string') continue
    if (role === 'assistant' && content.length > 0 && content.every(({ type }) => type.startsWith('reasoning')))
      say('nothing but reasoning')
    for (const part of content) {
      if (part.type === 'text' && part.text.trim() === '') say('an empty text')
      if (part.type === 'tool-call') called.add(part.toolCallId)
      if (part.type === 'tool-result' && !called.delete(part.toolCallId)) say('a result without a call')
    }
    if (role === 'tool' && called.size > 0) say('a call without a result')
  }
  const last = prompt.at(-1)?.role
  if (last !== 'user' && last !== 'tool') broken.push(`it ends with ${last}`)
  return broken
}
