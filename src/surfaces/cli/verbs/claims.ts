// Tasks that a client outside of the engine claims and works on: `errand claim`, `heartbeat`, `release`, `complete` and `fail`.

import type { ClaimOptions } from '../../../api/options.ts'
import { ErrandError } from '../../../core/errors.ts'
import type { Engine } from '../../../engine-api.ts'
import { failureSuffix, type Task } from '../../../entities/task.ts'
import { lists, texts } from '../../../terminal/arguments.ts'
import { type CommandIo, print, printJson, printValue } from '../../../terminal/io.ts'
import { durationOption, givenResult } from '../../../terminal/option-values.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { endReason, ownerLabel, stateLabel, taskLabel, taskNumber } from '../../../terminal/task-labels.ts'
import { cleanText, indented } from '../../../terminal/terminal-text.ts'
import { ledgerFlagOf } from '../ledger-path.ts'
import { withLedger, withTask } from '../open-ledger.ts'
import { asOwner, claimTokenIfClaimed, claimTokenOf, ownerOptions, requireWriterName } from '../owner-flags.ts'
import { findTask, optionalTaskId } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const claim = defineVerb({
  usage: 'claim [ID] --as OWNER [--lease DURATION] [--role R] [--parent ID] [--tag T]…',
  help: [
    'Claims a task that has no executor, so that only you work on it. Without ID, claims the oldest of the claimable tasks with the highest priority.',
    'Prints the task with the number of the claim, which "complete", "fail", "heartbeat" and "release" take as --fence.',
    'Exits with 1 if there is nothing to claim, or if another client has claimed the task first.',
    '  --as OWNER        your name; default: ERRAND_OWNER',
    '  --lease DURATION  the claim expires unless "errand heartbeat" renews it in time: 90s, 5m, 2h; default: it never expires',
    '  --role R          your role; also claims tasks that only this role may claim',
    '  --parent ID       only children of this task',
    '  --tag T           only tasks with this tag; if given several times, with all of them',
  ].join('\n'),
  options: { ...texts('as', 'lease', 'role', 'parent'), ...lists('tag') },
  positionals: { max: 1 },
  async run(io, { values, positionals: [ref] }) {
    const owner = requireWriterName(io, values)
    const leaseMs = values.lease === undefined ? undefined : durationOption('lease', values.lease)
    return await withLedger(io, values, async (engine) => {
      const parentId = await optionalTaskId(engine, values.parent)
      const terms = { owner, source: 'cli', leaseMs, parentId, role: values.role, tags: values.tag }
      const task = await claimed(engine, ref, terms)
      if (values.json) printJson(io, task)
      else describe(io, task, ledgerFlagOf(values))
    })
  },
})

async function claimed(engine: Engine, ref: string | undefined, options: ClaimOptions): Promise<Task> {
  if (ref !== undefined) return await engine.claim((await findTask(engine, ref)).id, options)
  const task = await engine.claim(null, options)
  if (task !== null) return task
  throw new ErrandError('NOT_CLAIMABLE', noneText(options), { reason: 'none' })
}

function noneText({ role, parentId, tags = [] }: ClaimOptions): string {
  const filters = [
    role !== undefined && `for the role ${role}`,
    parentId !== undefined && `directly in ${parentId}`,
    tags.length > 0 && `tagged ${tags.join(', ')}`,
  ].filter((text) => text !== false)
  const which = filters.length === 0 ? '' : ` ${filters.join(', ')}`
  const roles = role === undefined ? ' Tasks for a role are claimed with --role.' : ''
  return `There is no task to claim${which}: every matching task is claimed, blocked, on a timer or settled.${roles} "errand ps" shows claimable tasks.`
}

function describe(io: CommandIo, task: Task, ledgerFlag: string[]): void {
  print(io, `${taskLabel(task)}: ${stateLabel(task)}, ${ownerLabel(task)}`)
  for (const field of ['goal', 'description'] as const) {
    if (task[field]) print(io, indented(cleanText(task[field])))
  }
  const completion = [taskNumber(task), '--as', task.owner ?? '', '--fence', `${task.fence}`, ...ledgerFlag]
  print(io, `    ${shellCommand('errand', 'complete', ...completion)}`)
}

export const heartbeat = defineVerb({
  usage: 'heartbeat ID --as OWNER [--fence N]',
  help: 'Renews the lease of a task that you claimed. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required for a claim with a lease.',
  options: ownerOptions,
  positionals: { min: 1, max: 1 },
  async run(io, args) {
    const token = claimTokenOf(io, args.values)
    await withTask(io, args, async (engine, task) => {
      const renewed = await asOwner(task, token, () => engine.heartbeat(task.id, token))
      printValue(io, args.values, renewed, `${taskLabel(renewed)} is ${ownerLabel(renewed)}`)
    })
  },
})

export const release = defineVerb({
  usage: 'release ID --as OWNER [--fence N] [REASON…]',
  help: 'Releases a task that you claimed, so that others may claim it. --as defaults to ERRAND_OWNER; --fence is the number of the claim, required for a claim with a lease.',
  options: ownerOptions,
  positionals: { min: 1 },
  async run(io, args) {
    const token = claimTokenOf(io, args.values)
    const reason = args.positionals.slice(1).join(' ') || undefined
    await withTask(io, args, async (engine, task) => {
      const released = await asOwner(task, token, () => engine.release(task.id, { ...token, reason }))
      printValue(io, args.values, released, `${taskLabel(released)} released, now ${stateLabel(released)}`)
    })
  },
})

export const complete = defineVerb({
  usage: 'complete ID [--as OWNER] [--fence N] [--result JSON | RESULT…]',
  help: [
    'Completes a task that has no executor. RESULT is text; --result takes a JSON value.',
    '  --as OWNER  the owner of the claim; default: ERRAND_OWNER',
    '  --fence N   the number of the claim, as "errand claim" printed it; required for a claim with a lease',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('result') },
  positionals: { min: 1 },
  async run(io, args) {
    const result = givenResult(args.values.result, args.positionals.slice(1))
    await withTask(io, args, async (engine, task) => {
      const token = claimTokenIfClaimed(io, args.values, task)
      const completed = await asOwner(task, token, () => engine.complete(task.id, result, token))
      printValue(io, args.values, completed, `${taskLabel(completed)} ${stateLabel(completed)}`)
    })
  },
})

export const fail = defineVerb({
  usage: 'fail ID REASON… [--as OWNER] [--fence N] [--code CODE]',
  help: [
    'Records that a task without an executor has failed. "errand retry" opens it again.',
    '  --as OWNER   the owner of the claim; default: ERRAND_OWNER',
    '  --fence N    the number of the claim, as "errand claim" printed it; required for a claim with a lease',
    '  --code CODE  the error code, for programs; default: TASK_FAILED',
  ].join('\n'),
  options: { ...ownerOptions, ...texts('code') },
  positionals: { min: 2 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const token = claimTokenIfClaimed(io, args.values, task)
      const reason = args.positionals.slice(1).join(' ')
      const failed = await asOwner(task, token, () =>
        engine.fail(task.id, reason, { ...token, code: args.values.code }),
      )
      const why = failureSuffix(endReason(failed))
      printValue(io, args.values, failed, `${taskLabel(failed)} ${stateLabel(failed)}${why}`)
    }),
})
