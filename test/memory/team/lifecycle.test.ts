// The document's diagram as one test: a task is created, two agents join and work separately, both complete, the task is completed,
// durable facts are on main, the others stay, and the branches have the right status.
import { expect, it } from 'vitest'
import { history, typesOf } from '../../engine/world.ts'
import { allRows, branchStatus, facts, type Json, joins, openWithRows, teamTask } from './world.ts'

it("S2-002 S2-010 S2-018 S2-031 S2-034 S2-037 a team's task from creation to completion", async () => {
  const team = await openWithRows()
  const { call, ledger } = team
  const { taskId, branch } = await teamTask(team, {
    name: 'fix-auth',
    type: 'bug_fix',
    description: 'Users are logged out at random.',
    objectives: ['Fix auth middleware', 'Add test coverage', 'Update documentation'],
    parentBranch: 'main',
  })
  expect(branch).toBe('task/fix-auth')

  const one = await joins(team, taskId, 'agent_1', { role: 'implementer', objectives: [1] })
  const two = await joins(team, taskId, 'agent_2', { role: 'reviewer', objectives: [2] })
  expect([one.branch, two.branch]).toEqual(['task/fix-auth/agent_1', 'task/fix-auth/agent_2'])

  // They work separately; the first in two sessions.
  await one.sees('Read middleware.ts', 'tool_use', 's1')
  await one.sees('The refresh token is dropped by the middleware', 'discovery', 's1')
  await one.sees('Fixed the bug in the refresh middleware', 'insight', 's1')
  await one.sees('Fixed the bug in the refresh middleware', 'insight', 's2')
  await two.sees('Session cookies are set without a security flag', 'insight', 's3')
  await two.sees('Tokens stay valid for 15 minutes', 'decision', 's3')
  await two.sees('The build is slow on Mondays', 'insight', 's3')
  expect([await facts(team, branch), await facts(team, 'main')]).toEqual([{}, {}])

  const first = await one.completes('Fixed the middleware')
  expect(first).toMatchObject({ merged: 2, rejected: 0, conflicts: [], consolidation: { observationsProcessed: 3 } })
  // The second now sees what the first found.
  const { chunks } = await call('mem:retrieve', { query: 'refresh middleware', branch: two.branch })
  expect((chunks as Json[]).map(({ text }) => text)).toContain('Fixed the bug in the refresh middleware')
  const second = await two.completes()
  expect(second).toMatchObject({ merged: 3, consolidation: { observationsProcessed: 3 } })
  await call('objective:update', { taskId, objectiveId: 3, status: 'done', agentId: 'agent_2' })

  const completed = await call('task:complete', {
    taskId,
    summary: 'Users stay logged in',
    requireObjectives: true,
  })
  expect(completed).toMatchObject({
    status: 'completed',
    merge: { merged: 1, rejected: 0, conflicts: [] },
    ephemeral: 4,
  })
  expect(completed['durable']).toHaveLength(1)

  // Durable facts are on main, ephemeral ones where they were, and every branch has its status.
  expect(await facts(team, 'main')).toEqual({ 'Fixed the bug in the refresh middleware': 0.8 })
  expect(await facts(team, branch)).toEqual({
    'Fixed the bug in the refresh middleware': 0.8,
    'Session cookies are set without a security flag': 0.7,
    'The build is slow on Mondays': 0.7,
    'The refresh token is dropped by the middleware': 0.7,
    'Tokens stay valid for 15 minutes': 0.7,
  })
  const names = ['main', branch, one.branch, two.branch]
  expect(await Promise.all(names.map((name) => branchStatus(ledger, name)))).toEqual([
    'active',
    'merged',
    'merged',
    'merged',
  ])
  const { stints, objectives, runs } = await allRows(ledger, taskId)
  expect(stints).toEqual([
    ['agent_1', 1, 'completed', 'Fixed the middleware', true],
    ['agent_2', 1, 'completed', expect.stringContaining('agent_2 found 3 facts'), true],
  ])
  expect((objectives as unknown[][]).map(([, status]) => status)).toEqual(['done', 'done', 'done'])
  expect((runs as string[][]).map(([type]) => type).join(' ')).toBe(
    'session_end session_end agent_complete merge session_end agent_complete merge task_checkpoint merge',
  )
  expect(typesOf(await history(team.engine, taskId)).filter((type) => !type.startsWith('objective'))).toEqual([
    'task.created',
    'agent.joined',
    'agent.joined',
    'agent.completed',
    'agent.completed',
    'task.started',
    'task.completed',
    'team.closed',
  ])

  // The next task recalls these facts.
  const next = await teamTask(team, { name: 'Next' })
  const cleo = await joins(team, next.taskId, 'cleo')
  const recalled = await call('mem:retrieve', { query: 'refresh middleware bug', branch: cleo.branch })
  expect((recalled['chunks'] as Json[]).map(({ text }) => text)).toEqual(['Fixed the bug in the refresh middleware'])
})
