// The size of what a model is sent: old results are shortened when it is too long for the model, and a provider that has cut it without an error
// is noticed.

import { startOf } from '../../core/storable-text.ts'
import type { PromptCut } from '../../operations/agent-run.ts'
import type { ModelMessage, ModelStepInput, ModelUsage } from '../models/step-schema.ts'

/** What remains of a result that is shortened, in characters. */
const keptLength = 300
/** Results up to this length stay as they are: there is little to gain. */
const shortLength = 600

/**
 * The same step with the results of tools shortened, oldest first, until the conversation has half of its length; undefined if none can be
 * shortened.
 */
export function withShorterResults(input: ModelStepInput): ModelStepInput | undefined {
  const lengthOf = (messages: readonly ModelMessage[]): number =>
    messages.reduce((sum, { content }) => sum + content.length, 0)
  const whole = lengthOf(input.messages)
  let left = whole
  const messages = input.messages.map((message) => {
    if (left <= whole / 2 || message.role !== 'tool' || message.content.length <= shortLength) return message
    const content = `${startOf(message.content, keptLength)}… (shortened: it had ${message.content.length} characters, and the conversation was too long)`
    left -= message.content.length - content.length
    return { ...message, content }
  })
  return left === whole ? undefined : { ...input, messages }
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
