// A run line by line, for logs and pipes: what started, what it printed, how it ended. No line is rewritten.
import { formatDuration } from '../../core/duration.ts'
import type { TaskEvent } from '../../entities/event.ts'
import {
  answeredText,
  callText,
  errorMessageOf,
  failureText,
  modelFailure,
  outputOf,
  reasonText,
  textOf,
} from './event-fields.ts'
import { type CommandIo, print, printJson } from './io.ts'
import { type Reporter, type RoundRows, type Row, rowLabel } from './round-rows.ts'
import { cleanLine, displayWidth, firstLine, padWidth, shownPiece } from './terminal-text.ts'

const maxLabelWidth = 28

export function createPlainLines(io: CommandIo, view: RoundRows): Reporter {
  const labels = view.rows.filter((row) => !row.group).map((row) => displayWidth(rowLabel(row, row.path)))
  const width = Math.min(
    maxLabelWidth,
    labels.reduce((widest, label) => Math.max(widest, label), 0),
  )
  return {
    ownsScreen: false,
    event(event, row) {
      if (row.group) return
      const label = padWidth(rowLabel(row, row.path), width)
      for (const line of linesOf(event, row)) print(io, `${label} ${line}`)
    },
    end() {},
  }
}

/** The feed as one JSON object a line, for programs. */
export function createJsonLines(io: CommandIo): Reporter {
  return { ownsScreen: false, event: (event) => printJson(io, event), end() {} }
}

/** The lines for an event of a task; empty for events that matter to engines only. */
export function linesOf(event: TaskEvent, row: Row): string[] {
  switch (event.type) {
    case 'task.started':
      if (event.data['from'] !== 'submitted') return ['continues']
      return [row.attempt > 1 ? `started, attempt ${row.attempt}` : 'started']
    case 'task.claimed':
      return [`claimed by ${textOf(event, 'owner')}`]
    case 'task.answered':
      return [answeredText(event)]
    case 'task.resumed':
    case 'task.paused':
    case 'task.deleted':
      return [event.type.replace('task.', '')]
    case 'task.released':
      return [`released by ${textOf(event, 'owner')}${reasonText(event)}`]
    case 'task.waiting':
      // A task without runs lost its owner, and `task.released` has a line for that.
      return event.data['reason'] === 'interrupted' && event.data['run'] !== 0
        ? ['interrupted: the process that ran it died']
        : []
    case 'model.failed':
      return [modelFailure(event)]
    case 'model.prompt_cut':
      return [
        `its provider read ${String(event.data['inputTokens'])} tokens of about ${String(event.data['expectedTokens'])}: the prompt was probably cut`,
      ]
    case 'call.started':
      return row.agent === true ? [callText(event)] : []
    case 'call.failed':
      return row.agent === true
        ? [`${cleanLine(textOf(event, 'tool'))} failed: ${firstLine(errorMessageOf(event))}`]
        : []
    case 'question.asked':
      return [`asks: ${firstLine(textOf(event, 'question'))}`]
    case 'output.written':
      return outputLines(outputOf(event))
    case 'task.completed':
      return [`completed${inTime(event, row)}`]
    case 'task.failed':
      return [failureText(event, inTime(event, row))]
    case 'task.canceled':
      return [`canceled${reasonText(event)}`]
    case 'agent.joined':
      return [`${textOf(event, 'agentId')} joins the team`]
    case 'agent.completed':
      return [`${textOf(event, 'agentId')} has done its part`]
    case 'objective.updated':
      return [`objective ${String(event.data['objectiveId'])} is ${textOf(event, 'to')}`]
    default:
      return []
  }
}

function outputLines(output: string): string[] {
  if (output === '') return []
  return output
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `| ${shownPiece(line)}`)
}

function inTime(event: TaskEvent, row: Row): string {
  return row.startedAt === null ? '' : ` in ${formatDuration(event.at - row.startedAt)}`
}
