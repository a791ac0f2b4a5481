// The conversation of a live run: read from the ledger as it is now, and added to step by step.
import type { AgentMessage, ModelFailure } from '../agent-run.ts'
import { type CallRecord, identOf } from '../entities/call.ts'
import { type Conversation, callKeyOf, conversationOf } from '../entities/conversation.ts'
import type { MessageRecord } from '../entities/message.ts'
import { checkText, fromJson, toJson } from '../json.ts'
import { openCallStatuses } from '../machines/lifecycles.ts'
import { appendMessage, recordModelFailure } from '../steps/journal.ts'
import type { RunCore } from './run-core.ts'

export class RunConversation {
  readonly #core: RunCore
  readonly #messages: MessageRecord[] = []
  /** Entries before the first that is open: these change no more. */
  readonly #closed: CallRecord[] = []
  #closedThrough = 0
  #readThrough: number | null = null
  #heardThrough = 0

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Number of the last message that the run has read; null when it never has. */
  get readThrough(): number | null {
    return this.#readThrough
  }

  /** Number of the last message that the model has seen, or that came before any it has not: a later one is news to it. */
  get heardThrough(): number {
    return this.#heardThrough
  }

  /** Reads on from where it stopped: what was said never changes, nor does the outcome of a call. */
  async read(): Promise<Conversation> {
    const { taskId } = this.#core
    const after = this.#messages.at(-1)?.n ?? 0
    const from = this.#closedThrough + 1
    const news = await this.#core.host.read(function* (tx) {
      return {
        messages: yield* tx.message.spoken(taskId, after),
        entries: yield* tx.call.since(taskId, from, ['call', 'sleep']),
      }
    })
    this.#messages.push(...news.messages)
    const firstOpen = news.entries.findIndex(({ status }) => openCallStatuses.includes(status))
    const conversation = conversationOf(this.#messages, [...this.#closed, ...news.entries])
    this.#closed.push(...(firstOpen < 0 ? news.entries : news.entries.slice(0, firstOpen)))
    this.#closedThrough = this.#closed.at(-1)?.seq ?? 0
    this.#readThrough = this.#messages.at(-1)?.n ?? 0
    this.#core.journal.takeAll()
    const unheard = conversation.unread.find(({ delivery }) => delivery === 'abort' || delivery === 'steer')
    this.#heardThrough = unheard === undefined ? this.#readThrough : unheard.n - 1
    return conversation
  }

  async append({ id, role, content, step }: AgentMessage): Promise<void> {
    const core = this.#core
    const moment = core.host.moment()
    const { pending = [], ...taken } = step ?? {}
    const message = {
      id,
      role,
      content: checkText(content, 'the message'),
      step: step === undefined ? null : (taken as Omit<typeof step, 'pending'>),
      ident: identOf(id, null),
      ordinal: 0,
    }
    const calls = pending.map(({ name, params, onInterrupt }, index) => {
      const image = fromJson(toJson(params, `the params of call "${name}"`))
      const place = { kind: 'call' as const, name, ident: identOf(callKeyOf(id, index), null), ordinal: 0, scope: null }
      return core.entryOf({ ...place, params: image }, undefined, onInterrupt)
    })
    const made = await core.step(appendMessage(core.ref, core.messageOf(message, moment), calls, moment))
    for (const call of made) core.journal.remember(call)
  }

  modelFailed(failure: ModelFailure): Promise<void> {
    return this.#core.step(recordModelFailure(this.#core.ref, failure, this.#core.host.moment()))
  }
}
