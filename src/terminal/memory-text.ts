// Memory for people: facts as a table, the branches as a tree, and what a run of consolidation did in a line.

import { formatDuration } from '../core/duration.ts'
import { isConfirmed, type Source } from '../entities/source.ts'
import type { BranchView, FactView, HistoryView } from '../memory/fact-view.ts'
import type { Conflict } from '../memory/merge.ts'
import { type Columns, formatTable } from './table.ts'
import { shortId } from './task-labels.ts'
import { cleanLine, fitWidth } from './terminal-text.ts'

/** Of a ledger whose memory is empty, and how that changes. */
export const nothingKnown =
  'Nothing is known yet. What the agents of a team find out comes to main when their task is completed; "errand memory remember TEXT" states a fact at once.'

/** An id that is short to type: "errand memory why" takes any unique beginning. */
export function shortFactId(id: string): string {
  return id.replace(/^fact-/, '').slice(0, 6)
}

type Doubtful = Pick<FactView, 'confidence' | 'statedBy'> & Partial<Pick<FactView, 'status' | 'disputed'>>

/** `0.80`, and what stands against it. */
export function certainty({ confidence, status, disputed, statedBy }: Doubtful): string {
  const against = [
    status === 'superseded' ? ' superseded' : '',
    disputed === true ? ' disputed' : '',
    isConfirmed(statedBy) ? '' : ' unconfirmed',
  ]
  return confidence.toFixed(2) + against.join('')
}

/** `a model as ada in task 4kf0, a person`: who stated a fact, or an observation. */
export function sourcesText(sources: readonly Source[]): string {
  return sources.map(sourceText).join(', ')
}

function sourceText({ kind, taskId, agentId }: Source): string {
  const who = kind === 'unknown' ? 'an unknown source' : `a ${kind}`
  const name = agentId === undefined ? '' : ` as ${short(agentId)}`
  return `${who}${name}${taskId === undefined ? '' : ` in task ${shortId(taskId)}`}`
}

/** Branches have a column only where there may be several. */
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

/** Of a name that anybody may have chosen: what stands beside it must be seen as well. */
function short(name: string): string {
  return fitWidth(cleanLine(name), maxNameLength)
}
const maxNameLength = 24

/** A branch with how many active facts it has. */
export interface CountedBranch extends BranchView {
  facts: number
}

/** Each below the one whose facts it sees, by age. */
export function branchTree(branches: readonly CountedBranch[], columns?: number): string[] {
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
      of: ({ branch }) => ownerOf(branch),
    },
    columns,
  )
}

/** No white space, which a table would drop at the beginning of a cell. */
const indent = '· '

function ownerOf({ taskId, agentId }: BranchView): string {
  const task = taskId === undefined ? '' : `task ${shortId(taskId)}`
  return agentId === undefined ? task : `${agentId}, ${task}`
}

/** The last segment of an agent's branch is its name. */
export function historyColumns(now: number): Columns<HistoryView> {
  return { age: ({ at }) => formatDuration(now - at), run: ({ type }) => type, did: whatItDid, branch: placeOf }
}

function placeOf({ sourceBranch, targetBranch, type }: HistoryView): string {
  const isCarried = type === 'merge' || type === 'project_checkpoint'
  return isCarried && sourceBranch !== targetBranch ? `${sourceBranch} → ${targetBranch}` : sourceBranch
}

/** `3 observed, 2 new, 1 surer (s1)`, the session in brackets; nothing that is nothing. */
export function whatItDid(run: Omit<HistoryView, 'id' | 'at' | 'trigger' | 'sourceBranch' | 'targetBranch'>): string {
  const told = [some(run.observationsProcessed, 'observed'), ...factsOf(run), ...outcomeOf(run)].filter(
    (each) => each !== '',
  )
  const session = run.sessionId === undefined ? '' : ` (${short(run.sessionId)})`
  return `${told.length === 0 ? 'nothing to do' : told.join(', ')}${session}`
}

type Done = Parameters<typeof whatItDid>[0]

/** A merge and a checkpoint are told by what they came to. */
function factsOf({ type, factsCreated, factsUpdated, factsDeduplicated }: Done): string[] {
  if (type === 'merge' || type === 'task_checkpoint') return []
  return [
    some(factsCreated, 'new'),
    some(factsUpdated, 'surer'),
    some(factsDeduplicated, type === 'agent_complete' ? 'said twice' : 'known'),
  ]
}

function outcomeOf({ type, summary, merged, rejected = 0, durable, ephemeral = 0 }: Done): string[] {
  return [
    type === 'agent_complete' && summary !== undefined ? 'summed up' : '',
    merged === undefined ? '' : `${merged} merged`,
    some(rejected, 'rejected'),
    durable === undefined ? '' : `${durable} lasting, ${ephemeral} not`,
  ]
}

function some(count: number, word: string): string {
  return count === 0 ? '' : `${count} ${word}`
}

/** Two facts that met in a merge and cannot both hold, a line each. */
export function conflictLines(conflicts: readonly Conflict[]): string[] {
  const outcomes = { 'keep-both': 'both stay, disputed', source: 'the first holds', target: 'the second holds' }
  return conflicts.map(
    ({ factId, otherId, ground, resolution }) =>
      `${shortFactId(factId)} contradicts ${shortFactId(otherId)} (${ground}): ${outcomes[resolution]}`,
  )
}
