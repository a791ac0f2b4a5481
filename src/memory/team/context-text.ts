// A team's context as text, for people and for the opening of an agent's conversation. The text has a maximum length, and each entry
// stays on one line, so that none can be taken for a heading or for another entry.

import { clipped } from '../../core/storable-text.ts'
import { isConfirmed } from '../../entities/source.ts'
import type { ActiveAgent, AgentSummary, KeyFact, TeamContext, TeamTask } from './context.ts'
import type { Objective } from './objectives.ts'

/** Maximum length of the text, in UTF-16 units. */
export const maxContextLength = 8_000

/** Maximum length of each part; together less than the whole. */
const maxPartLengths = { title: 200, description: 1_200, objectives: 2_200, work: 1_700, agents: 500, facts: 1_900 }

/** Maximum length of a line. */
const maxLineLength = 400

export function contextText({ task, progress, ...context }: TeamContext): string {
  return [
    `# Task Context: ${clipped(flat(task.name), maxPartLengths.title - 40)}`,
    ...aboutTask(task),
    ...part('## Objectives', context.objectives.map(objectiveLine), maxPartLengths.objectives),
    ...part('## Previous Agent Work', context.agentSummaries.map(summaryLine), maxPartLengths.work),
    ...part('## Active Agents', context.activeAgents.map(agentLine), maxPartLengths.agents),
    ...part('## Key Facts', context.keyFacts.map(factLine), maxPartLengths.facts),
    '',
    progressLine(progress),
  ].join('\n')
}

function aboutTask({ id, type, status, description, summary }: TeamTask): string[] {
  const half = maxPartLengths.description / 2
  return [
    [id, status, ...(type === null ? [] : [clipped(flat(type), 100)])].join(' · '),
    ...(description === '' ? [] : ['', `Description: ${clipped(flat(description), half)}`]),
    ...(summary === null ? [] : ['', `Result: ${clipped(flat(summary), half - 50)}`]),
  ]
}

function objectiveLine({ id, description, status, agentId, notes }: Objective): string {
  const who = agentId === null ? '' : ` (${shortName(agentId)})`
  return `[${status.toUpperCase()}] ${id}. ${clipped(flat(description), 200)}${who}${notes === null ? '' : `: ${flat(notes)}`}`
}

function summaryLine({ agentId, role, summary }: AgentSummary): string {
  return `- ${nameWithRole(agentId, role)}: ${flat(summary)}`
}

function agentLine({ agentId, role, objectives }: ActiveAgent): string {
  return `- ${nameWithRole(agentId, role)}${objectives.length === 0 ? '' : `: objectives ${objectives.join(', ')}`}`
}

function factLine({ text, category, confidence, statedBy, agentId }: KeyFact): string {
  const about = [...(agentId === null ? [] : [shortName(agentId)]), ...(isConfirmed(statedBy) ? [] : ['unconfirmed'])]
  const who = about.length === 0 ? '' : ` (${about.join(', ')})`
  return `- [${clipped(flat(category), 40)} ${confidence.toFixed(2)}] ${clipped(flat(text), 300)}${who}`
}

function progressLine({ total, done, active, todo, blocked }: TeamContext['progress']): string {
  return `Progress: ${done}/${total} done, ${active} active, ${todo} todo, ${blocked} blocked`
}

function nameWithRole(agentId: string, role: string | null): string {
  return role === null ? shortName(agentId) : `${shortName(agentId)} (${shortName(role)})`
}

function shortName(name: string): string {
  return clipped(flat(name), 60)
}

/** A part with as many lines as fit; empty without lines. */
function part(title: string, lines: readonly string[], maxLength: number): string[] {
  if (lines.length === 0) return []
  const shown: string[] = []
  let left = maxLength - title.length - 20
  for (const line of lines) {
    const short = clipped(line, maxLineLength)
    if (short.length + 1 > left) break
    shown.push(short)
    left -= short.length + 1
  }
  const rest = lines.length - shown.length
  return ['', title, ...shown, ...(rest === 0 ? [] : [`… and ${rest} more`])]
}

/** Joins the lines of a text. */
function flat(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
