// A team's view of its task: objectives, agents and facts.

import { sourceLabel } from '../model/fact-sources.ts'
import type { TeamContext } from '../model/wire.ts'
import { LongText } from './elements.tsx'

const glyphs: Record<string, string> = { todo: '○', active: '▶', done: '✓', blocked: '✕' }

/** A branch of memory alone makes no team: every task that is worked on from outside has one. */
export function hasTeam(context: TeamContext | null): context is TeamContext {
  if (context === null) return false
  const { objectives, activeAgents, agentSummaries, keyFacts } = context
  return [objectives, activeAgents, agentSummaries, keyFacts].some(({ length }) => length > 0)
}

export function TeamView({ context }: { context: TeamContext }) {
  const { objectives, activeAgents, agentSummaries, keyFacts, task } = context
  return (
    <div class="team">
      {task.branch === null ? null : (
        <p class="note">
          Memory branch <code>{task.branch}</code>
        </p>
      )}
      {objectives.length === 0 ? null : (
        <>
          <h3>Objectives</h3>
          <ul class="plain">
            {objectives.map(({ id, description, status, agentId, notes }) => (
              <li key={id}>
                <span class="glyph" aria-hidden="true">
                  {glyphs[status]}
                </span>{' '}
                <LongText text={description} label={`objective ${id}`} />{' '}
                <span class="note">
                  {status}
                  {agentId === null ? '' : `, ${agentId}`}
                  {notes === null ? '' : `: ${notes}`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {activeAgents.length + agentSummaries.length === 0 ? null : (
        <>
          <h3>Agents</h3>
          <ul class="plain">
            {activeAgents.map(({ agentId, role }) => (
              <li key={agentId}>
                {agentId} <span class="note">{role === null ? 'at work' : `${role}, at work`}</span>
              </li>
            ))}
            {agentSummaries.map(({ agentId, summary }, index) => (
              <li key={`${agentId}-${index}`}>
                {agentId}: <LongText text={summary} label={`summary of ${agentId}`} limit={300} />
              </li>
            ))}
          </ul>
        </>
      )}
      {keyFacts.length === 0 ? null : (
        <>
          <h3>Key facts</h3>
          <ul class="plain">
            {keyFacts.map(({ id, text, category, confidence, statedBy }) => (
              <li key={id}>
                <LongText text={text} label="fact" limit={300} />{' '}
                <span class="note">
                  {category}, {Math.round(confidence * 100)} % sure, {sourceLabel(statedBy)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
