// The size of what a model is sent: old results are shortened when it is too long for the model, and a provider that has cut it without an error
// is noticed.

import { startOf } from '../../core/storable-text.ts'
import type { PromptCut } from '../../operations/agent-run.ts'
import type { ModelMessage, ModelStepInput, ModelUsage } from '../models/step-schema.ts'

/** What remains of a result that is shortened, in characters. */
const keptLength = 300
/** Results up to this length stay as they are: there is little to gain. */
const shortLength = 600

/** The messages with the first `count` results of tools shortened. */
export function withShortResults(messages: readonly ModelMessage[], count: number): ModelMessage[] {
  let results = 0
  return messages.map((message) => (message.role === 'tool' && ++results <= count ? shortened(message) : message))
}

/**
 * How many results of tools, oldest first, are to be shortened so that the conversation has half of its length; 0 if none can be. Messages are
 * only added to a conversation, so the number names the same results in its later steps.
 */
export function resultsToShorten(messages: readonly ModelMessage[]): number {
  const whole = messages.reduce((sum, { content }) => sum + content.length, 0)
  let left = whole
  let count = 0
  for (const [index, message] of messages.filter(({ role }) => role === 'tool').entries()) {
    if (left <= whole / 2) break
    const saved = message.content.length - shortened(message).content.length
    left -= saved
    if (saved > 0) count = index + 1
  }
  return count
}

function shortened(message: ModelMessage): ModelMessage {
  const { length } = message.content
  if (length <= shortLength) return message
  const note = `(shortened: it had ${length} characters, and the conversation was too long)`
  return { ...message, content: `${startOf(message.content, keptLength)}… ${note}` }
}

/** Below this number of tokens nothing is said: the estimate is too rough. */
const minExpectedTokens = 1_000

/**
 * Defined if a provider reports less than half of the tokens that four characters each would be: some servers (Ollama among them) cut a prompt that
 * is longer than their context, from its beginning and without an error.
 */
export function promptCut({ messages, tools }: ModelStepInput, { inputTokens }: ModelUsage): PromptCut | undefined {
  if (inputTokens === null || inputTokens === 0) return undefined
  // Texts alone: providers do not count old reasoning, signatures and images by their bytes.
  const length = messages.reduce((sum, { content }) => sum + content.length, JSON.stringify(tools ?? []).length)
  const expectedTokens = Math.round(length / 4)
  return expectedTokens >= minExpectedTokens && inputTokens < expectedTokens / 2
    ? { inputTokens, expectedTokens }
    : undefined
}
