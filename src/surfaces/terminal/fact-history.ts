// The history of a fact as lines, oldest first: observations, decisions of consolidations, and merges.
import { isoTime } from '../../core/clock.ts'
import type { DecisionView, FactView, MentionView, ObservationView } from '../../memory/fact-view.ts'
import type { FactHistory, FactWhy } from '../../memory/why-fact.ts'
import { certainty, shortFactId, sourcesText } from './memory-text.ts'
import type { TaskNumbers } from './task-labels.ts'
import { cleanLine } from './terminal-text.ts'

interface Entry {
  at: number
  branch: string
  text: string
}

/** Lines of clean text. */
export function factHistoryLines(why: FactWhy, numberOf: TaskNumbers): string[] {
  const { fact, observations, decisions, mentions, moreDecisions, moreMentions, sources, others, successor } = why
  // At equal times, sources come before the facts that were merged from them.
  const histories: FactHistory[] = [...sources.toReversed(), { fact, observations, decisions }]
  const known = new Map([...others, ...histories.map((each) => each.fact)].map((each) => [each.id, each]))
  const entries = [
    ...observationEntries(histories),
    ...histories.flatMap((history) => decisionEntries(history, known)),
    ...mentionEntries(fact, mentions, known),
  ]
  const ordered = entries.toSorted((a, b) => a.at - b.at)
  const width = ordered.reduce((widest, { branch }) => Math.max(widest, branch.length), 0)
  return [
    `${fact.id}: ${cleanLine(fact.text)}`,
    `  ${[certainty(fact), fact.category, `on ${cleanLine(fact.branch)}`, ...(fact.agentId === undefined ? [] : [`first stated by ${cleanLine(fact.agentId)}`])].join(', ')}`,
    `  stated by ${sourcesText(fact.statedBy, numberOf)}`,
    '',
    ...ordered.map(({ at, branch, text }) => `${isoTime(at)}  ${branch.padEnd(width)}  ${text}`),
    ...(entries.length === 0 ? ['The fact was stated directly, and has not been consolidated since.'] : []),
    ...(moreDecisions === true ? ['', `Only the latest ${decisions.length} decisions about the fact are shown.`] : []),
    ...(moreMentions === true
      ? ['', `Only the latest ${mentions.length} decisions that this fact caused about other facts are shown.`]
      : []),
    ...against(why, known),
    ...(successor === undefined ? [] : ['', `Replaced by ${named(successor)}: ${cleanLine(successor.text)}`]),
  ]
}

/** Each observation once, even if it is in several histories. */
function observationEntries(histories: readonly FactHistory[]): Entry[] {
  const seen = new Map<string, ObservationView>()
  for (const { observations } of histories) for (const each of observations) seen.set(each.id, each)
  return [...seen.values()].map(({ createdAt: at, branch, agentId, sessionId, type, content, outcome }) => ({
    at,
    branch: cleanLine(branch),
    text: cleanLine(
      `${agentId === undefined ? 'observed' : `${agentId} observed`} in session ${sessionId}: ${content} (${type}${outcome === undefined ? '' : `, ${outcome}`})`,
    ),
  }))
}

function decisionEntries(
  { fact, observations, decisions }: FactHistory,
  known: ReadonlyMap<string, FactView>,
): Entry[] {
  return decisions.map((decision) => {
    const { at, otherId, observationId } = decision
    const other = otherId === undefined ? '' : named(known.get(otherId) ?? { id: otherId }, fact.branch)
    const seen = observations.find(({ id }) => id === observationId)
    const text = `${shortFactId(fact.id)} ${decided(decision, other, seen === undefined ? '' : noted(seen))}`
    return { at, branch: cleanLine(fact.branch), text }
  })
}

/** Decisions about other facts because of this one, described with this fact as subject. */
function mentionEntries(
  fact: FactView,
  mentions: readonly MentionView[],
  known: ReadonlyMap<string, FactView>,
): Entry[] {
  return mentions.map((mention) => {
    const other = known.get(mention.factId) ?? { id: mention.factId }
    const text = `${shortFactId(fact.id)} ${didTo(mention, named(other, fact.branch))}`
    return { at: mention.at, branch: cleanLine(known.get(mention.factId)?.branch ?? fact.branch), text }
  })
}

/** The end of a sentence whose subject is the fact that the decision changed. */
function decided({ kind, before, after, similarity, note = '' }: DecisionView, other: string, seen: string): string {
  const source = other === '' ? seen : other
  const by = source === '' ? '' : ` by ${source}`
  const alike = similarity === undefined ? '' : `, ${Math.round(similarity * 100)} % alike`
  const why = cleanLine(note)
  switch (kind) {
    case 'created':
      return `is created from ${seen === '' ? 'an observation' : seen}: ${why}, ${share(after)}`
    case 'boosted':
      return `is confirmed${by}: ${share(before)} → ${share(after)}${alike}`
    case 'confirmed':
      return `is confirmed${by}, and already had the maximum confidence${alike}`
    case 'superseded':
      return `is replaced by ${other}, which says the same${alike}`
    case 'summarized':
      return `summarizes what its agent found${other === '' ? '' : `, replacing ${other}`}`
    case 'carried':
      return `is merged from ${other}: ${share(after)}`
    case 'judged':
      return `is judged ${why}`
    case 'contradicted':
      return `contradicts ${other}; both stay active (${why})`
    case 'settled':
      return `is replaced by ${other}, which contradicts it (${why})`
  }
}

/** The end of a sentence whose subject is the fact that caused the decision. */
function didTo({ kind, before, after, similarity, note = '' }: MentionView, other: string): string {
  const alike = similarity === undefined ? '' : `, ${Math.round(similarity * 100)} % alike`
  const why = cleanLine(note)
  switch (kind) {
    case 'boosted':
      return `confirms ${other}: ${share(before)} → ${share(after)}${alike}`
    case 'confirmed':
      return `confirms ${other}, which already had the maximum confidence${alike}`
    case 'superseded':
      return `replaces ${other}, which says the same${alike}`
    case 'summarized':
      return `is replaced by ${other}, a newer summary`
    case 'carried':
      return `is merged as ${other}: ${share(after)}`
    case 'contradicted':
      return `is contradicted by ${other}; both stay active (${why})`
    case 'settled':
      return `replaces ${other}, which contradicts it (${why})`
    case 'created':
    case 'judged':
      return `is mentioned where ${other} is ${kind}`
  }
}

/** `what ann observed in session s1`. */
function noted({ agentId, sessionId }: ObservationView): string {
  return `what ${agentId === undefined ? 'was observed' : `${cleanLine(agentId)} observed`} in session ${cleanLine(sessionId)}`
}

function share(confidence: number | undefined): string {
  return confidence === undefined ? '?' : confidence.toFixed(2)
}

/** The short id, and the branch if it is known and is not `here`. */
function named(fact: Pick<FactView, 'id'> & Partial<Pick<FactView, 'branch'>>, here?: string): string {
  const where = fact.branch === undefined || fact.branch === here ? '' : ` on ${cleanLine(fact.branch)}`
  return `${shortFactId(fact.id)}${where}`
}

/** The active facts that contradict it. The decision is stored with the later of the two, so both lists are searched. */
function against({ decisions, mentions }: FactWhy, known: ReadonlyMap<string, FactView>): string[] {
  const notes = new Map<string, string>()
  for (const { kind, note = '', otherId } of decisions) {
    if (kind === 'contradicted' && otherId !== undefined) notes.set(otherId, note)
  }
  for (const { kind, note = '', factId } of mentions) if (kind === 'contradicted') notes.set(factId, note)
  if (notes.size === 0) return []
  const lines = Array.from(notes, ([id, note]) => {
    const other = known.get(id)
    return `  ${named(other ?? { id })} (${cleanLine(note)})${other === undefined ? '' : `: ${cleanLine(other.text)}`}`
  })
  return ['', 'It is contradicted by:', ...lines]
}
