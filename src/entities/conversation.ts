// The conversation of a task as its agent goes on from it: what a model has seen and said, what came of the calls it asked for,
// and what it has not seen yet. Read from messages and journal entries; nothing of it is kept elsewhere.
import { type CallRecord, identOf } from './call.ts'
import type { MessageRecord, ModelStep, ToolCall } from './message.ts'

/** A step that a model took, with what it saw for the first time in it. */
export interface TakenStep {
  messageId: string
  content: string
  step: ModelStep
  inputs: MessageRecord[]
  /** In the order in which the model asked. */
  calls: Array<{ asked: ToolCall; key: string; entry: CallRecord | undefined }>
}

export interface Conversation {
  /** System messages, oldest first. */
  system: MessageRecord[]
  steps: TakenStep[]
  /** Messages for the model that no step has seen, oldest first. */
  unread: MessageRecord[]
  /** Identities of the rests that were recorded, in order. */
  rests: string[]
}

/** What the journal entry of a call that a model asked for is found by. */
export function callKeyOf(messageId: string, index: number): string {
  return `${messageId}#${index}`
}

/** Announcements are for people: they are left out (conformance C-10). */
export function conversationOf(messages: readonly MessageRecord[], entries: readonly CallRecord[]): Conversation {
  const spoken = messages.filter((message) => !message.announcement)
  // Later rows of one identity are newer tries of it.
  const calls = new Map(entries.filter((entry) => entry.kind === 'call').map((entry) => [entry.ident, entry]))
  const byId = new Map(spoken.map((message) => [message.id, message]))
  const seen = new Set<string>()
  const steps: TakenStep[] = []
  for (const { id, content, step } of spoken) {
    if (step === null) continue
    for (const input of step.inputs) seen.add(input)
    steps.push({
      messageId: id,
      content,
      step,
      inputs: step.inputs.flatMap((input) => byId.get(input) ?? []),
      calls: step.calls.map((asked, index) => {
        const key = callKeyOf(id, index)
        return { asked, key, entry: calls.get(identOf(key, null)) }
      }),
    })
  }
  return {
    system: spoken.filter((message) => message.role === 'system'),
    steps,
    unread: spoken.filter((message) => message.role !== 'system' && message.step === null && !seen.has(message.id)),
    rests: entries.filter((entry) => entry.kind === 'sleep').map((entry) => entry.ident),
  }
}
