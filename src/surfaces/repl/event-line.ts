// An event of the feed as a line: when, which task, what, and what it says.
import { isoTime } from '../../clock.ts'
import type { TaskEvent } from '../../entities/event.ts'
import { callWords, errorMessageOf, textOf } from '../cli/event-words.ts'
import { shortId } from '../cli/task-words.ts'
import { firstLine, fitWidth } from '../cli/terminal-text.ts'

const longestWords = 200

/** `14:03:22 lines (4fz1k2) task.paused: …`. The time is in UTC, like all that the command line shows. */
export function eventLine(event: TaskEvent): string {
  const said = fitWidth(saidBy(event), longestWords)
  const name = firstLine(textOf(event, 'name'))
  return `${isoTime(event.at).slice(11, 19)} ${name} (${shortId(event.taskId)}) ${event.type}${said === '' ? '' : `: ${said}`}`
}

function saidBy(event: TaskEvent): string {
  switch (event.type) {
    case 'question.asked':
      return firstLine(textOf(event, 'question'))
    case 'output.written':
      return firstLine(textOf(event, 'text'))
    case 'message.appended':
      return `of ${firstLine(textOf(event, 'role'))}`
    case 'call.started':
      return callWords(event)
    default:
      return firstLine(errorMessageOf(event) || textOf(event, 'reason'))
  }
}
