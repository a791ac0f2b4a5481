// The messages of a run: each is found again or appended. Tokens are streamed live as they come and stored once, whole, at their
// end; if the run dies in between, nothing of them is stored.
import { identOf } from '../entities/call.ts'
import type { MessageRole } from '../entities/message.ts'
import { checkText } from '../json.ts'
import { appendMessage } from '../steps/journal.ts'
import type { RunCore } from './run-core.ts'

export class RunMessages {
  readonly #core: RunCore
  /** By message on its way, how much of its text has gone out. */
  readonly #spoken = new Map<string, number>()

  constructor(core: RunCore) {
    this.#core = core
  }

  /** Resolves to the message's id: of the one that an earlier run appended, or of the new one. */
  async write(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    key: string | undefined,
  ): Promise<string> {
    const id = this.#core.host.nextId('msg')
    if (typeof content === 'string') return this.#append(id, role, identOf(key, content), () => content)
    if (key !== undefined) return this.#append(id, role, identOf(key, null), () => this.#collect(id, content))
    // Without a key the text decides, so the tokens must be had first.
    const text = await this.#collect(id, content)
    return this.#append(id, role, identOf(undefined, text), () => text)
  }

  /** A piece of a message on its way. */
  live(content: string, messageId: string): void {
    const offset = this.#spoken.get(messageId) ?? 0
    this.#spoken.set(messageId, offset + content.length)
    this.#core.host.live(this.#core.taskId, { content, messageId, offset })
  }

  /** Claims its place synchronously, so that the order of asking decides. */
  async #append(id: string, role: MessageRole, ident: string, text: () => string | Promise<string>): Promise<string> {
    const { journal, host, ref } = this.#core
    const ordinal = journal.claimMessage(role, ident)
    const found = journal.findMessage(role, ident, ordinal)
    if (found !== undefined) return found
    const content = checkText(await text(), 'the message')
    const moment = host.moment()
    const message = this.#core.messageOf({ id, role, content, step: null, ident, ordinal }, moment)
    await this.#core.step(appendMessage(ref, message, [], moment))
    return id
  }

  async #collect(id: string, tokens: AsyncIterable<string> | Iterable<string>): Promise<string> {
    let text = ''
    for await (const token of tokens) {
      this.#core.signal.throwIfAborted()
      text += token
      this.live(token, id)
    }
    return text
  }
}
