// The conversation of a live run: read from the ledger as it is now, and added to step by step.
import type { AgentMessage, ModelFailure } from '../agent-run.ts'
import { identOf } from '../entities/call.ts'
import { type Conversation, callKeyOf, conversationOf } from '../entities/conversation.ts'
import { checkText, fromJson, toJson } from '../json.ts'
import { appendMessage, recordModelFailure } from '../steps/journal.ts'
import type { RunCore } from './run-core.ts'

export class RunConversation {
  readonly #core: RunCore
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

  async read(): Promise<Conversation> {
    const { taskId } = this.#core
    const { messages, entries } = await this.#core.host.read(function* (tx) {
      return { messages: yield* tx.message.list(taskId), entries: yield* tx.call.list(taskId, ['call', 'sleep']) }
    })
    this.#readThrough = messages.at(-1)?.n ?? 0
    this.#core.journal.takeAll()
    const conversation = conversationOf(messages, entries)
    const news = conversation.unread.find((message) => message.delivery === 'steer')
    this.#heardThrough = news === undefined ? this.#readThrough : news.n - 1
    return conversation
  }

  async append({ id, role, content, step }: AgentMessage): Promise<void> {
    const core = this.#core
    core.journaled = true
    const moment = core.host.moment()
    const { pending = [], ...taken } = step ?? {}
    const message = {
      id,
      taskId: core.taskId,
      role,
      content: checkText(content, 'the message'),
      announcement: false,
      step: step === undefined ? null : (taken as Omit<typeof step, 'pending'>),
      delivery: null,
      run: core.ref.run,
      ident: identOf(id, null),
      ordinal: 0,
      timestamp: moment.at,
    }
    const calls = pending.map(({ name, params, onInterrupt }, index) => {
      const image = fromJson(toJson(params, `the params of call "${name}"`))
      const place = { kind: 'call' as const, name, ident: identOf(callKeyOf(id, index), null), ordinal: 0 }
      return core.entryOf({ ...place, params: image }, undefined, onInterrupt)
    })
    for (const call of await core.step(appendMessage(core.ref, message, calls, moment))) core.journal.remember(call)
  }

  modelFailed(failure: ModelFailure): Promise<void> {
    return this.#core.step(recordModelFailure(this.#core.ref, failure, this.#core.host.moment()))
  }
}
