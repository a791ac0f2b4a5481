// The conversation of a task from which its agent continues: the steps of the model with their calls and results, and the messages that
// it has not read. Derived from messages and journal entries only.
import { type CallRecord, identOf } from './call.ts'
import type { MessageRecord, ModelStep, ToolCall } from './message.ts'

/** A step of a model, with the messages that it saw for the first time in it. */
export interface TakenStep {
  messageId: string
  content: string
  step: ModelStep
  inputs: MessageRecord[]
  /** In the order of the model's message. */
  calls: Array<{ asked: ToolCall; key: string; entry: CallRecord | undefined }>
}

export interface Conversation {
  /** System messages, oldest first. */
  system: MessageRecord[]
  steps: TakenStep[]
  /** Messages for the model that no step has seen, oldest first. */
  unread: MessageRecord[]
  /** Identities of the recorded sleeps, in order. */
  rests: string[]
}

/** The key of the journal entry of a model's call. */
export function callKeyOf(messageId: string, index: number): string {
  return `${messageId}#${index}`
}

/** Announcements, which are for people, are left out. */
export function conversationOf(messages: readonly MessageRecord[], entries: readonly CallRecord[]): Conversation {
  const forModel = messages.filter((message) => !message.announcement)
  // Later rows of one identity are newer tries of it.
  const calls = new Map(entries.filter((entry) => entry.kind === 'call').map((entry) => [entry.ident, entry]))
  const byId = new Map(forModel.map((message) => [message.id, message]))
  const seen = new Set<string>()
  const steps: TakenStep[] = []
  for (const { id, content, step } of forModel) {
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
    system: forModel.filter((message) => message.role === 'system'),
    steps,
    unread: forModel.filter((message) => message.role !== 'system' && message.step === null && !seen.has(message.id)),
    rests: entries.filter((entry) => entry.kind === 'sleep').map((entry) => entry.ident),
  }
}
