// A team's context as text, for people and for the opening of an agent's conversation. However much a team has said, the text stays
// short, and each thing said stays on one line, so that none can pass for a heading or for another one's words.

import { clipped } from '../core/storable-text.ts'
import { isConfirmed } from '../entities/source.ts'
import type { ActiveAgent, AgentSummary, KeyFact, TeamContext, TeamTask } from './context.ts'
import type { Objective } from './objectives.ts'

/** No text is longer, in UTF-16 units. */
export const maxContextLength = 8_000

/** What each part of it may take; together less than the whole. */
const room = { title: 200, description: 1_200, objectives: 2_200, work: 1_700, agents: 500, facts: 1_900 }

/** One line of a part. */
const maxLineLength = 400

export function contextText({ task, progress, ...context }: TeamContext): string {
  return [
    `# Task Context: ${clipped(flat(task.name), room.title - 40)}`,
    ...aboutTask(task),
    ...part('## Objectives', context.objectives.map(objectiveLine), room.objectives),
    ...part('## Previous Agent Work', context.agentSummaries.map(summaryLine), room.work),
    ...part('## Active Agents', context.activeAgents.map(agentLine), room.agents),
    ...part('## Key Facts', context.keyFacts.map(factLine), room.facts),
    '',
    progressLine(progress),
  ].join('\n')
}

function aboutTask({ id, type, status, description, summary }: TeamTask): string[] {
  const half = room.description / 2
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

/** A part with as many of its lines as there is room for; nothing at all without lines. */
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

/** On one line. */
function flat(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
