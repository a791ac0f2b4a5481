// Turns the items of a task's stream into lines. Output arrives in pieces, and an escape sequence that is cut in two would escape
// the cleaning, so only whole lines are passed on. Announcements of calls are replaced by the calls themselves, which have more details.

import { clipped } from '../../core/storable-text.ts'
import type { StreamItem } from '../../engine/engine-api.ts'
import { stateText } from '../../entities/machine-view.ts'
import { failureSuffix } from '../../entities/task.ts'
import { toolText } from './event-fields.ts'
import { cleanLine, firstLine, shownPiece } from './terminal-text.ts'

export class LogLines {
  readonly #print: (line: string) => void
  #rest = ''
  /** Ids, without their prefix, of the calls that the conversation has announced. */
  readonly #announced = new Set<string>()

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  take(item: StreamItem): void {
    switch (item.type) {
      case 'content':
        // The whole message follows its pieces.
        if (item.messageId === undefined) this.#output(item.content)
        return
      case 'message':
        if (!this.#announcesCall(item)) this.note(`${item.role}: ${item.content}`)
        return
      case 'tool_call':
        if (this.#announced.has(bareId(item.callId))) this.note(toolText(item.tool, item.args))
        return
      case 'tool_result':
        if (this.#announced.has(bareId(item.callId))) this.note(resultText(item))
        return
      case 'question':
        this.note(`asks: ${item.question}`)
        return
      case 'error':
        this.note(`failed${failureSuffix(item.error.message)}${item.willRetry ? ' (another attempt follows)' : ''}`)
        return
      case 'machine':
        this.note(`${item.event}: ${stateText(item.value)}`)
        return
      case 'emitted':
        this.note(`emits ${item.event.type}`)
        return
      case 'start':
      case 'state':
      case 'progress':
      case 'end':
        return
    }
  }

  /** Prints a separate line. */
  note(text: string): void {
    this.end()
    this.#print(text)
  }

  #announcesCall({ messageId, announcement }: Extract<StreamItem, { type: 'message' }>): boolean {
    const [, id, which] = (announcement && /^msg-(.+)-(start|end)$/.exec(messageId)) || []
    if (id === undefined) return false
    if (which === 'start') this.#announced.add(id)
    return this.#announced.has(id)
  }

  /** Prints an incomplete last line. */
  end(): void {
    if (this.#rest !== '') this.#print(shownPiece(this.#rest))
    this.#rest = ''
  }

  #output(text: string): void {
    const lines = (this.#rest + text).split('\n')
    const rest = lines.pop() ?? ''
    // A progress bar may go on for hours without a line break.
    this.#rest = rest.endsWith('\r') ? `${shownPiece(rest)}\r` : shownPiece(rest)
    for (const line of lines) this.#print(shownPiece(line))
  }
}

const maxResultLength = 200

function bareId(callId: string): string {
  return callId.replace(/^call-/, '')
}

function resultText({ tool, result, error }: Extract<StreamItem, { type: 'tool_result' }>): string {
  if (error !== undefined) return `${cleanLine(tool)} failed: ${firstLine(error.message)}`
  const text = cleanLine(typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))
  return `${cleanLine(tool)} returned ${clipped(text, maxResultLength + 1)}`
}
