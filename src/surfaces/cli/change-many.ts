// Applies one action to all tasks that a filter finds, and shows how far it has come. An interrupt ends it between two parts.
import { isoTime, systemClock } from '../../core/clock.ts'
import { counted } from '../../core/counted.ts'
import { runBatch } from '../../engine/run-batch.ts'
import type { BatchAction, BatchOptions, BatchProgress, BatchResult } from '../../entities/batch.ts'
import { timeOf } from '../../entities/engine-time.ts'
import type { OperationVerb } from '../../operations/define-operation.ts'
import { type CommonArguments, type FlagsOf, misuse } from '../terminal/arguments.ts'
import { cliCaller } from '../terminal/caller.ts'
import { exitCodes } from '../terminal/exit-code.ts'
import { type filterFlags, filterIn } from '../terminal/filter-flags.ts'
import { type CommandIo, note, printValue } from '../terminal/io.ts'
import { inputIn } from '../terminal/operation-verb.ts'
import { shellCommand } from '../terminal/shell-quote.ts'
import { untilInterrupted } from '../terminal/stop-listener.ts'
import { ledgerFlagOf } from './ledger-path.ts'
import { withLedger } from './open-ledger.ts'

type Values = FlagsOf<typeof filterFlags> & CommonArguments['values'] & { all?: boolean; 'dry-run'?: boolean }

/** Refusals that are printed. */
const maxLines = 20

/** Resolves to the exit code. */
export async function changeMany(
  io: CommandIo,
  { values }: { values: Values },
  { action, verb }: { action: BatchAction; verb: OperationVerb },
): Promise<number> {
  const given = inputIn(verb, values)
  if (given['repeat'] !== undefined) throw misuse('--repeat names a call of one task: name that task too.')
  const filter = filterIn(values, systemClock.now())
  if (Object.keys(filter).length === 0 && values.all !== true) {
    throw misuse(
      `Which tasks? Name them, choose them with options like --executor or --since, or give --all. "errand help ${verb.name}" lists the options.`,
    )
  }
  return await withLedger(io, values, (engine) =>
    untilInterrupted(io, async (signal) => {
      const dryRun = values['dry-run'] === true
      const before = filter.before ?? timeOf(engine) + 1
      const again = commandOf(verb, values, { ...filter, before })
      const show = progressOn(io, action)
      const onProgress = (progress: BatchProgress): void => {
        // A batch of a single part cannot be stopped.
        if (progress.done + progress.refused < progress.total && !dryRun) show(progress, again)
      }
      const options: BatchOptions = { ...given, dryRun, signal, onProgress }
      const result = await runBatch(engine.bus, cliCaller.caller, action, { ...filter, before }, options)
      printValue(io, values, result, linesOf(result, action, dryRun))
      if (result.stopped) {
        note(io, `Stopped. "${again}" goes on.`)
        return exitCodes.interrupted
      }
      return result.refusedCount > 0 ? exitCodes.failed : exitCodes.done
    }),
  )
}

/** Prints the command that continues the batch before the first progress, because the process may be killed at any time. */
function progressOn(io: CommandIo, action: BatchAction): (progress: BatchProgress, again: string) => void {
  let last = -1
  return ({ done, refused, total }, again) => {
    if (last < 0) note(io, `If this is interrupted, "${again}" goes on and changes no task twice.`)
    const percent = Math.floor((100 * (done + refused)) / Math.max(1, total))
    if (percent >= last + 5 || last < 0) {
      note(io, `${action}: ${done + refused} of ${total}`)
      last = percent
    }
  }
}

/** With the options of the verb: the rest is changed in the same way. */
function commandOf(verb: OperationVerb, values: Values, { since, before }: { since?: number; before: number }): string {
  const flags = [...Object.keys(verb.options ?? {}), 'status', 'tag', 'meta', 'executor', 'owner', 'code', 'text']
  const words = flags.flatMap((flag) =>
    [(values as Record<string, string | boolean | string[] | undefined>)[flag] ?? []]
      .flat()
      .flatMap((value) => (typeof value === 'string' ? [`--${flag}`, value] : [`--${flag}`])),
  )
  const times = [...(since === undefined ? [] : ['--since', isoTime(since)]), '--before', isoTime(before)]
  return shellCommand('errand', verb.name, ...words, ...times, ...ledgerFlagOf(values))
}

const past: Readonly<Record<BatchAction, string>> = {
  retry: 'retried',
  cancel: 'canceled',
  pause: 'paused',
  resume: 'resumed',
  delete: 'deleted',
}

function linesOf({ done, refused, refusedCount }: BatchResult, action: BatchAction, dryRun: boolean): string[] {
  const verb = dryRun ? `would be ${past[action]}` : past[action]
  const shown = refused.slice(0, maxLines)
  return [
    `${counted(done, 'task')} ${verb}${refusedCount > 0 ? `, ${refusedCount} refused:` : '.'}`,
    ...shown.map(({ seq, name, message }) => `  #${seq} ${name}: ${message}`),
    ...(refusedCount > shown.length ? [`  and ${refusedCount - shown.length} more`] : []),
  ]
}
