// One turn of a task as one message: what its stream tells, from when somebody spoke to it until it has answered, asks something, or
// rests. Text comes as it is said, and once and whole however it arrived.
import type { StreamItem } from '../../engine-api.ts'
import type { UiMessageChunk } from './chunks.ts'

type Message = Extract<StreamItem, { type: 'message' }>
type Content = Extract<StreamItem, { type: 'content' }>

/** What somebody has to set going again. */
const resting = new Set(['input_required', 'paused'])

export class Turn {
  readonly #messageId: string
  #begun = false
  /** The message of the model that the open step is made of; undefined for one that only calls. */
  #step: { messageId: string | undefined } | undefined
  #text: { id: string; said: string } | undefined
  /** Of a message whose pieces did not all arrive: it is told when it is whole. */
  #gapIn: string | undefined
  readonly #calls = new Set<string>()
  #status = ''
  #asked = false
  #over = false

  /** `messageId` is what the message is called: the same one, when it is told again from the beginning. */
  constructor(messageId: string) {
    this.#messageId = messageId
  }

  get over(): boolean {
    return this.#over
  }

  *take(item: StreamItem): Generator<UiMessageChunk> {
    if (!this.#begun) {
      this.#begun = true
      yield { type: 'start', messageId: this.#messageId }
    }
    yield* this.#chunksOf(item)
    if (!this.#over && this.#isResting()) yield* this.#finish({ type: 'finish', finishReason: 'other' })
  }

  *#chunksOf(item: StreamItem): Generator<UiMessageChunk> {
    const { taskId } = item
    switch (item.type) {
      case 'start':
        return
      case 'state':
        this.#status = item.status
        yield { type: 'data-errand-state', id: 'state', data: { taskId, status: item.status, reason: item.reason } }
        return
      case 'content':
        yield* this.#piece(item)
        return
      case 'message':
        if (item.role === 'assistant' && !item.announcement) yield* this.#message(item)
        return
      case 'question': {
        this.#asked = true
        const { questionId, question, schema } = item
        const proposed = 'default' in item ? { default: item.default } : {}
        yield {
          type: 'data-errand-question',
          id: questionId,
          data: { taskId, questionId, question, schema, ...proposed },
        }
        return
      }
      case 'progress':
        yield {
          type: 'data-errand-progress',
          id: 'progress',
          data: { taskId, fraction: item.fraction, note: item.note },
        }
        return
      case 'tool_call':
        yield* this.#endText()
        yield* this.#openStep(this.#step?.messageId)
        this.#calls.add(item.callId)
        yield { type: 'tool-input-available', toolName: item.tool, input: item.args ?? null, ...toolPart(item.callId) }
        return
      case 'tool_result':
        // A call of an earlier turn, whose interface has it in another message.
        if (!this.#calls.has(item.callId)) return
        if (item.error === undefined) {
          yield { type: 'tool-output-available', output: item.result ?? null, ...toolPart(item.callId) }
        } else yield { type: 'tool-output-error', errorText: item.error.message, ...toolPart(item.callId) }
        return
      case 'error':
        if (item.willRetry) yield* this.#breakOff()
        else yield { type: 'error', errorText: item.error.message }
        return
      case 'end':
        yield* this.#end(item.status)
    }
  }

  *#piece({ content, messageId, offset = 0 }: Content): Generator<UiMessageChunk> {
    if (messageId === undefined) {
      yield* this.#openStep(undefined)
      yield* this.#say('output', content)
      return
    }
    if (this.#gapIn === messageId) return
    const said = this.#text?.id === messageId ? this.#text.said.length : 0
    if (offset !== said) {
      this.#gapIn = messageId
      return
    }
    yield* this.#openStep(messageId)
    yield* this.#say(messageId, content)
  }

  *#message({ messageId, content }: Message): Generator<UiMessageChunk> {
    yield* this.#openStep(messageId)
    const said = this.#text?.id === messageId ? this.#text.said : ''
    const rest = content.startsWith(said) ? content.slice(said.length) : content
    if (rest !== '') yield* this.#say(messageId, rest)
    yield* this.#endText()
    this.#gapIn = undefined
  }

  /** A step is one answer of the model, and the calls that it asked for. One that begins anew, unfinished, takes back what it said. */
  *#openStep(messageId: string | undefined): Generator<UiMessageChunk> {
    if (this.#step !== undefined && this.#step.messageId === messageId) return
    if (this.#step !== undefined && this.#text !== undefined && this.#text.id === this.#step.messageId) {
      yield* this.#breakOff()
    }
    yield* this.#endStep()
    this.#step = { messageId }
    yield { type: 'start-step' }
  }

  *#breakOff(): Generator<UiMessageChunk> {
    if (this.#text === undefined) return
    yield* this.#endText()
    yield { type: 'reset-step' }
  }

  *#say(id: string, delta: string): Generator<UiMessageChunk> {
    if (this.#text?.id !== id) {
      yield* this.#endText()
      this.#text = { id, said: '' }
      yield { type: 'text-start', id }
    }
    this.#text.said += delta
    yield { type: 'text-delta', id, delta }
  }

  *#endText(): Generator<UiMessageChunk> {
    if (this.#text === undefined) return
    yield { type: 'text-end', id: this.#text.id }
    this.#text = undefined
  }

  *#endStep(): Generator<UiMessageChunk> {
    yield* this.#endText()
    if (this.#step === undefined) return
    this.#step = undefined
    yield { type: 'finish-step' }
  }

  *#end(status: 'completed' | 'failed' | 'canceled'): Generator<UiMessageChunk> {
    if (status === 'canceled') yield* this.#finish({ type: 'abort', reason: 'The task was canceled.' })
    else yield* this.#finish({ type: 'finish', finishReason: status === 'completed' ? 'stop' : 'error' })
  }

  *#finish(last: UiMessageChunk): Generator<UiMessageChunk> {
    yield* this.#endStep()
    this.#over = true
    yield last
  }

  /** A question comes with its state, before it or after. */
  #isResting(): boolean {
    return resting.has(this.#status) && (this.#status === 'paused' || this.#asked)
  }
}

function toolPart(toolCallId: string) {
  return { toolCallId, providerExecuted: true, dynamic: true } as const
}
