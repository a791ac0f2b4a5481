// Memory for people: facts as a table, branches as a tree, and each consolidation or merge as a line.

import { formatDuration } from '../../core/duration.ts'
import { startOf } from '../../core/storable-text.ts'
import { isConfirmed, type Source } from '../../entities/source.ts'
import type { BranchView, FactView, HistoryView } from '../../memory/fact-view.ts'
import type { Conflict } from '../../memory/merge.ts'
import { type Columns, formatTable } from './table.ts'
import type { TaskNumbers } from './task-labels.ts'
import { cleanLine, fitWidth } from './terminal-text.ts'

export const nothingKnown =
  'There are no facts yet. Facts of a team are merged into main when its task is completed; "errand memory remember TEXT" states a fact directly.'

/** A short id to type: "errand memory why" accepts any unique prefix. */
export function shortFactId(id: string): string {
  return startOf(id.replace(/^fact-/, ''), 8)
}

type Doubtful = Pick<FactView, 'confidence' | 'statedBy'> & Partial<Pick<FactView, 'status' | 'disputed'>>

/** `0.80`, and marks like `disputed`. */
export function certainty({ confidence, status, disputed, statedBy }: Doubtful): string {
  const against = [
    status === 'superseded' ? ' superseded' : '',
    disputed === true ? ' disputed' : '',
    isConfirmed(statedBy) ? '' : ' unconfirmed',
  ]
  return confidence.toFixed(2) + against.join('')
}

/** `a model as ada in task #12, a person`: the sources of a fact or an observation. */
export function sourcesText(sources: readonly Source[], numberOf: TaskNumbers): string {
  return sources.map((source) => sourceText(source, numberOf)).join(', ')
}

function sourceText({ kind, taskId, agentId }: Source, numberOf: TaskNumbers): string {
  const name = agentId === undefined ? '' : ` as ${short(agentId)}`
  return `a ${kind}${name}${taskId === undefined ? '' : ` in task ${numberOf(taskId)}`}`
}

/** `branches` adds a column for the branch. */
export function factColumns({ branches }: { branches: boolean }): Columns<FactView> {
  const branch = (fact: FactView) => fact.branch
  return {
    id: ({ id }) => shortFactId(id),
    sure: certainty,
    category: ({ category }) => short(category),
    ...(branches && { branch }),
    who: ({ agentId }) => short(agentId ?? ''),
    fact: ({ text }) => text,
  }
}

/** Cuts a name, so that a long one does not hide the other columns. */
function short(name: string): string {
  return fitWidth(cleanLine(name), maxNameLength)
}
const maxNameLength = 24

/** A branch with the number of its active facts. */
export interface CountedBranch extends BranchView {
  facts: number
}

/** Each branch below the one whose facts it inherits; oldest first. */
export function branchTree(branches: readonly CountedBranch[], numberOf: TaskNumbers, columns?: number): string[] {
  const known = new Set(branches.map(({ name }) => name))
  const below = Map.groupBy(branches, ({ parent }) => (parent !== undefined && known.has(parent) ? parent : ''))
  const rowsBelow = (parent: string, depth: number): Array<{ branch: CountedBranch; depth: number }> =>
    (below.get(parent) ?? []).flatMap((branch) => [{ branch, depth }, ...rowsBelow(branch.name, depth + 1)])
  return formatTable(
    rowsBelow('', 0),
    {
      branch: ({ branch, depth }) => `${indent.repeat(depth)}${branch.name}`,
      status: ({ branch }) => branch.status,
      facts: ({ branch }) => branch.facts,
      of: ({ branch }) => ownerOf(branch, numberOf),
    },
    columns,
  )
}

/** Not white space: a table drops it at the beginning of a cell. */
const indent = '· '

function ownerOf({ taskId, agentId }: BranchView, numberOf: TaskNumbers): string {
  const task = taskId === undefined ? '' : `task ${numberOf(taskId)}`
  return agentId === undefined ? task : `${agentId}, ${task}`
}

/** The last segment of an agent's branch is its name. */
export function historyColumns(now: number): Columns<HistoryView> {
  return { age: ({ at }) => formatDuration(now - at), run: ({ type }) => type, did: runSummary, branch: branchLabel }
}

function branchLabel({ sourceBranch, targetBranch, type }: HistoryView): string {
  const isCarried = type === 'merge' || type === 'project_checkpoint'
  return isCarried && sourceBranch !== targetBranch ? `${sourceBranch} → ${targetBranch}` : sourceBranch
}

/** `3 observed, 2 new, 1 confirmed (s1)`, with the session in brackets; zero counts are left out. */
export function runSummary(run: Omit<HistoryView, 'id' | 'at' | 'trigger' | 'sourceBranch' | 'targetBranch'>): string {
  const counts = [some(run.observationsProcessed, 'observed'), ...factsOf(run), ...outcomeOf(run)].filter(
    (each) => each !== '',
  )
  const session = run.sessionId === undefined ? '' : ` (${short(run.sessionId)})`
  return `${counts.length === 0 ? 'nothing to do' : counts.join(', ')}${session}`
}

type Done = Parameters<typeof runSummary>[0]

/** Empty for a merge and a checkpoint: `outcomeOf` has their counts. */
function factsOf({ type, factsCreated, factsUpdated, factsDeduplicated }: Done): string[] {
  if (type === 'merge' || type === 'task_checkpoint') return []
  return [
    some(factsCreated, 'new'),
    some(factsUpdated, 'confirmed'),
    some(factsDeduplicated, type === 'agent_complete' ? 'combined' : 'known'),
  ]
}

function outcomeOf({ type, summary, merged, rejected = 0, durable, ephemeral = 0 }: Done): string[] {
  return [
    type === 'agent_complete' && summary !== undefined ? 'summarized' : '',
    merged === undefined ? '' : `${merged} merged`,
    some(rejected, 'rejected'),
    durable === undefined ? '' : `${durable} durable, ${ephemeral} not`,
  ]
}

function some(count: number, word: string): string {
  return count === 0 ? '' : `${count} ${word}`
}

/** The contradictions that a merge found, one per line. */
export function conflictLines(conflicts: readonly Conflict[]): string[] {
  const outcomes = { 'keep-both': 'both stay, disputed', source: 'the first is kept', target: 'the second is kept' }
  return conflicts.map(
    ({ factId, otherId, ground, resolution }) =>
      `${shortFactId(factId)} contradicts ${shortFactId(otherId)} (${ground}): ${outcomes[resolution]}`,
  )
}
