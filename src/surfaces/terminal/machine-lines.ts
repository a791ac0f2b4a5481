// The machine of a task as lines: its state, what would move it, and its latest moves.
import { isoTime } from '../../core/clock.ts'
import { type MachineMove, stateText, type TaskMachine } from '../../entities/machine-view.ts'
import { type Columns, formatTable } from './table.ts'
import { cleanLine } from './terminal-text.ts'

const maxMoves = 5

export function machineLines({ id, value, accepts, next, step, path }: TaskMachine, columns?: number): string[] {
  const moves: Columns<MachineMove> = {
    event: ({ event }) => cleanLine(event),
    state: (move) => cleanLine(stateText(move.value)),
    at: ({ at }) => isoTime(at),
  }
  const fields = {
    state: `${stateText(value)} (step ${step})`,
    accepts: accepts.length === 0 ? 'no event' : accepts.join(', '),
    next: next === null ? null : `${next.event} at ${isoTime(next.dueAt)}`,
  }
  const lines = Object.entries(fields).flatMap(([name, text]) =>
    text === null ? [] : [`${name.padEnd('accepts'.length)}  ${cleanLine(text)}`],
  )
  return [
    id === null ? 'machine' : `machine ${cleanLine(id)}`,
    ...[...lines, '', ...formatTable(path.slice(-maxMoves), moves, columns)].map((line) =>
      line === '' ? '' : `  ${line}`,
    ),
  ]
}
