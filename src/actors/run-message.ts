// A message of a run: found again or appended. Tokens are streamed live as they come and stored once, whole, at their end; if
// the run dies in between, nothing of them is stored.
import { identOf } from '../entities/call.ts'
import type { MessageRole } from '../entities/message.ts'
import { checkText } from '../json.ts'
import type { RunJournal } from '../machines/run-journal.ts'

export interface DraftMessage {
  id: string
  role: MessageRole
  content: string
  ident: string
  ordinal: number
}

export interface MessageWriter {
  readonly journal: RunJournal
  readonly signal: AbortSignal
  /** Of the new message, if one is written; its live tokens carry it. */
  readonly id: string
  live(token: string, messageId: string): void
  store(message: DraftMessage): Promise<void>
}

/** The message's id: of the one that an earlier run appended, or of the new one. */
export async function writeRunMessage(
  writer: MessageWriter,
  role: MessageRole,
  content: string | AsyncIterable<string> | Iterable<string>,
  key: string | undefined,
): Promise<string> {
  if (typeof content === 'string') return append(writer, role, identOf(key, content), () => content)
  if (key !== undefined) return append(writer, role, identOf(key, null), () => collect(writer, content))
  // Without a key the text decides, so the tokens must be had first.
  const text = await collect(writer, content)
  return append(writer, role, identOf(undefined, text), () => text)
}

/** Claims its place synchronously, so that the order of asking decides. */
async function append(
  { journal, id, store }: MessageWriter,
  role: MessageRole,
  ident: string,
  text: () => string | Promise<string>,
): Promise<string> {
  const ordinal = journal.claimMessage(role, ident)
  const found = journal.findMessage(role, ident, ordinal)
  if (found !== undefined) return found
  await store({ id, role, content: checkText(await text(), 'the message'), ident, ordinal })
  return id
}

async function collect(
  { signal, id, live }: MessageWriter,
  tokens: AsyncIterable<string> | Iterable<string>,
): Promise<string> {
  let text = ''
  for await (const token of tokens) {
    signal.throwIfAborted()
    text += token
    live(token, id)
  }
  return text
}
