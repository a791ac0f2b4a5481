// The conversation of a task for people: who said what, and what the steps of its model took. Announcements are left out: the calls
// that they tell of are listed beside.
import type { Message } from '../../entities/message.ts'
import { cleanLine, cleanText } from './terminal-text.ts'

const longestMessage = 2_000

/** Tokens of all steps; null where no step said. */
export interface UsageTotal {
  steps: number
  inputTokens: number | null
  outputTokens: number | null
  totalTokens: number | null
}

/** Undefined when no model took a step. */
export function usageOf(messages: readonly Message[]): UsageTotal | undefined {
  const steps = messages.flatMap(({ step }) => step ?? [])
  if (steps.length === 0) return undefined
  const sum = (field: 'inputTokens' | 'outputTokens' | 'totalTokens'): number | null =>
    steps.reduce<number | null>(
      (total, { usage }) => (usage[field] === null ? total : (total ?? 0) + usage[field]),
      null,
    )
  return {
    steps: steps.length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    totalTokens: sum('totalTokens'),
  }
}

/** Lines below a heading; none for a task without messages. */
export function describeConversation(messages: readonly Message[]): string[] {
  const spoken = messages.filter((message) => !message.announcement)
  if (spoken.length === 0) return []
  return ['', 'conversation', ...spoken.flatMap(messageLines).map((line) => `  ${line}`), ...usageLines(messages)]
}

function messageLines({ role, content, step }: Message): string[] {
  const text =
    content.length > longestMessage
      ? `${content.slice(0, longestMessage)}… (${content.length} characters; --json shows all)`
      : content
  const calls = (step?.calls ?? []).map(({ ability }) => `calls ${cleanLine(ability)}`)
  const lines = text === '' ? [] : cleanText(text).split('\n')
  const [first = '', ...rest] = [...lines, ...calls]
  return [`${role}: ${first}`, ...rest.map((line) => `  ${line}`)]
}

function usageLines(messages: readonly Message[]): string[] {
  const usage = usageOf(messages)
  if (usage === undefined) return []
  const { steps, inputTokens, outputTokens } = usage
  const models = [...new Set(messages.flatMap(({ step }) => step?.modelId ?? []))].filter((id) => id !== '')
  const tokens =
    inputTokens === null && outputTokens === null
      ? 'tokens unknown'
      : `${inputTokens ?? '?'} tokens in, ${outputTokens ?? '?'} out`
  return ['', `${steps} ${steps === 1 ? 'step' : 'steps'} of ${cleanLine(models.join(', ')) || 'its model'}: ${tokens}`]
}
