// The conversation of a live run. Messages of the executor are found in the journal or appended. An agent reads the
// conversation from the ledger and appends step by step. Tokens are streamed live and stored once, as a whole message,
// at their end; if the run dies before that, nothing of the message is stored.

import { checkText, fromJson, toJson } from '../core/json.ts'
import { storableText } from '../core/storable-text.ts'
import { type CallRecord, identOf } from '../entities/call.ts'
import { type Conversation, callKeyOf, conversationOf } from '../entities/conversation.ts'
import type { MessageRecord, MessageRole } from '../entities/message.ts'
import { openCallStatuses } from '../machines/call-machine.ts'
import type { AgentMessage, ModelFailure, PromptCut } from '../operations/agent-run.ts'
import { appendMessage, recordModelFailure, recordPromptCut } from '../operations/steps/journal.ts'
import type { EntryDescription } from './call-scope.ts'
import type { RunCore } from './run-core.ts'

export class RunConversation {
  readonly #core: RunCore
  readonly #messages: MessageRecord[] = []
  /** Entries before the first open one: these no longer change. */
  readonly #closed: CallRecord[] = []
  #closedThrough = 0
  #readThrough: number | null = null
  #seenThrough = 0
  #isCutRecorded = false
  /** How much of the text of each unfinished message has been streamed, by message id. */
  readonly #streamed = new Map<string, number>()

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Number of the last message that the run has read; null before the first read. */
  get readThrough(): number | null {
    return this.#readThrough
  }

  /** Number of the last message before the first one that the model has not seen. */
  get seenThrough(): number {
    return this.#seenThrough
  }

  /** Reads what was added since the last read: messages and the outcomes of calls never change. */
  async read(): Promise<Conversation> {
    const { taskId } = this.#core
    const after = this.#messages.at(-1)?.n ?? 0
    const from = this.#closedThrough + 1
    const added = await this.#core.host.read(function* (tx) {
      return {
        messages: yield* tx.message.spoken(taskId, after),
        entries: yield* tx.call.since(taskId, from, ['call', 'sleep']),
      }
    })
    for (const message of added.messages) this.#messages.push(message)
    const firstOpen = added.entries.findIndex(({ status }) => openCallStatuses.includes(status))
    const conversation = conversationOf(this.#messages, [...this.#closed, ...added.entries])
    for (const entry of firstOpen < 0 ? added.entries : added.entries.slice(0, firstOpen)) this.#closed.push(entry)
    this.#closedThrough = this.#closed.at(-1)?.seq ?? 0
    this.#readThrough = this.#messages.at(-1)?.n ?? 0
    this.#core.journal.takeAll()
    const unseen = conversation.unread.find(({ delivery }) => delivery === 'abort' || delivery === 'steer')
    this.#seenThrough = unseen === undefined ? this.#readThrough : unseen.n - 1
    return conversation
  }

  async append({ id, role, content, step }: AgentMessage): Promise<void> {
    const core = this.#core
    const ctx = core.host.stepContext()
    const { pending = [], ...taken } = step ?? {}
    const message = {
      id,
      role,
      content: checkText(storableText(content), 'the message'),
      step: step === undefined ? null : (taken as Omit<typeof step, 'pending'>),
      ident: identOf(id, null),
      ordinal: 0,
    }
    const calls = pending.map(({ name, params, onInterrupt }, index) => {
      const image = fromJson(toJson(params, `the params of call "${name}"`))
      const ident = identOf(callKeyOf(id, index), null)
      const entry: EntryDescription = { kind: 'call', name, ident, ordinal: 0, params: image, scope: null }
      return core.entryOf(entry, undefined, onInterrupt)
    })
    const made = await core.step(appendMessage(core.ref, core.messageOf(message, ctx), calls, ctx))
    for (const call of made) core.journal.remember(call)
  }

  modelFailed(failure: ModelFailure): Promise<void> {
    return this.#core.step(recordModelFailure(this.#core.ref, failure, this.#core.host.stepContext()))
  }

  /** Recorded once: a server that cuts one prompt of a run cuts all that follow. */
  async promptCut(cut: PromptCut): Promise<void> {
    if (this.#isCutRecorded) return
    this.#isCutRecorded = true
    await this.#core.step(recordPromptCut(this.#core.ref, cut, this.#core.host.stepContext()))
  }

  /** Resolves to the id of the message: the one appended by an earlier run, or the new one. */
  async write(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    key: string | undefined,
  ): Promise<string> {
    const id = this.#core.host.nextId('msg')
    if (typeof content === 'string') {
      const kept = this.#redacted(content)
      return this.#writeOnce(id, role, identOf(key, kept), () => kept)
    }
    if (key !== undefined) return this.#writeOnce(id, role, identOf(key, null), () => this.#collect(id, content))
    // Without a key, the message is identified by its text, so the tokens are collected first.
    const text = await this.#collect(id, content)
    return this.#writeOnce(id, role, identOf(undefined, text), () => text)
  }

  /** Streams a piece of an unfinished message; nothing while a redact hook is set, because a secret may span pieces. */
  live(content: string, messageId: string): void {
    if (this.#core.host.redaction.isOn) return
    const offset = this.#streamed.get(messageId) ?? 0
    this.#streamed.set(messageId, offset + content.length)
    this.#core.host.live(this.#core.taskId, { content, messageId, offset })
  }

  /** Claims the ordinal synchronously, so that concurrent requests are numbered in the order they were made. */
  async #writeOnce(
    id: string,
    role: MessageRole,
    ident: string,
    text: () => string | Promise<string>,
  ): Promise<string> {
    const { journal, host, ref } = this.#core
    const ordinal = journal.claimMessage(role, ident)
    const found = journal.findMessage(role, ident, ordinal)
    if (found !== undefined) return found
    const content = checkText(await text(), 'the message')
    const ctx = host.stepContext()
    const message = this.#core.messageOf({ id, role, content, step: null, ident, ordinal }, ctx)
    await this.#core.step(appendMessage(ref, message, [], ctx))
    return id
  }

  async #collect(id: string, tokens: AsyncIterable<string> | Iterable<string>): Promise<string> {
    let text = ''
    for await (const token of tokens) {
      this.#core.signal.throwIfAborted()
      text += token
      this.live(token, id)
    }
    return this.#redacted(text)
  }

  #redacted(content: string): string {
    return this.#core.host.redaction.text(storableText(content), 'message', 'content')
  }
}
