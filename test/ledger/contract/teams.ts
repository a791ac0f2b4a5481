// Teams: the team of a task on which several agents work, its objectives, and the stints of each agent.
import type { StintRecord, TeamRecord } from '../../../src/entities/team.ts'
import type { Ledger, Op, Reads, Tx } from '../../../src/ledger/ledger.ts'
import {
  branchRow,
  consolidationRow,
  decisionRow,
  factRow,
  objectiveRow,
  observationRow,
  someTime,
  stintRow,
  taskRow,
  teamRow,
} from '../factories.ts'
import { begun, idsIn, purged, type Theme, write } from './contract-world.ts'

type NewTask = ReturnType<typeof taskRow>

/** A task with a branch of the same name, and its team. */
function* insertTeam(tx: Tx, id: string, task: Partial<NewTask> = {}, team: Partial<TeamRecord> = {}): Op<void> {
  yield* tx.task.insert(taskRow({ id, ...task }))
  yield* tx.branch.insert(branchRow({ name: id, taskId: id }))
  yield* tx.team.insert(teamRow({ taskId: id, branch: id, ...team }))
}

const settled = (status: 'completed' | 'failed' | 'canceled', after = 10): Partial<NewTask> => ({
  status,
  completedAt: someTime + after,
})

const ended = { status: 'completed', leftAt: someTime + 1 } as const

const stintAt = (taskId: string, agentId: string, stint: Partial<StintRecord> = {}) =>
  stintRow({ taskId, agentId, branch: taskId, ...stint })

function* insertStints(tx: Tx, ...stints: StintRecord[]): Op<void> {
  for (const stint of stints) yield* tx.team.insertStint(stint)
}

const nameOf = ({ taskId, agentId, number }: StintRecord) => `${taskId} ${agentId} ${number}`

export const teams: Theme = ({ describe, proves, expect }) => {
  describe('a team', () => {
    proves('a team is found by its task and by its branch, and all its other fields can change', async (ledger) => {
      const full = teamRow({
        taskId: 'a',
        branch: 'a',
        type: `bug "fix's"`,
        durableThreshold: 60,
        durableCategories: ['decision', `it's`],
      })
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'a', {}, full)
        yield* insertTeam(tx, 'b')
      })
      expect(await ledger.read((tx) => tx.team.get('a'))).toEqual(full)
      expect(await ledger.read((tx) => tx.team.ofBranch('b'))).toEqual(teamRow({ taskId: 'b', branch: 'b' }))
      expect(await ledger.read((tx) => tx.team.get('c'))).toBe(undefined)
      expect(await ledger.read((tx) => tx.team.ofBranch('main'))).toBe(undefined)
      const closed: TeamRecord = {
        ...full,
        type: null,
        durableThreshold: null,
        durableCategories: null,
        summary: 'Done',
        checkpointId: 'c',
        mergeId: 'm',
        closedAt: someTime + 9,
      }
      await write(ledger, (tx) => tx.team.save({ ...closed, branch: 'main' }))
      expect(await ledger.read((tx) => tx.team.get('a'))).toEqual(closed)
    })

    proves('a team requires an existing task and branch that no other team has', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'a')
        yield* tx.task.insert(taskRow({ id: 'b' }))
        yield* tx.branch.insert(branchRow({ name: 'free' }))
      })
      for (const wrong of [
        teamRow({ taskId: 'a', branch: 'free' }),
        teamRow({ taskId: 'b', branch: 'a' }),
        teamRow({ taskId: 'missing', branch: 'free' }),
        teamRow({ taskId: 'b', branch: 'nowhere' }),
        teamRow({ taskId: 'b', branch: 'free', durableThreshold: 101 }),
      ]) {
        const refused = write(ledger, (tx) => tx.team.insert(wrong))
        await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
    })

    proves(
      'teams are listed with their tasks, from the latest on, by type and state, without deleted ones',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* insertTeam(tx, 'a', {}, { type: 'fix' })
          yield* insertTeam(tx, 'b', settled('completed'), { type: 'fix' })
          yield* insertTeam(tx, 'gone', { deletedAt: someTime })
          yield* insertTeam(tx, 'c')
          yield* tx.task.insert(taskRow({ id: 'alone' }))
        })
        const listed = async (filter: Parameters<Reads['team']['list']>[0], limit = 9, offset = 0) =>
          (await ledger.read((tx) => tx.team.list(filter, limit, offset))).map(
            ({ team, task }) => `${team.taskId} ${task.id}`,
          )
        expect(await listed({})).toEqual(['c c', 'b b', 'a a'])
        expect(await listed({}, 1, 1)).toEqual(['b b'])
        expect(await listed({ type: 'fix' })).toEqual(['b b', 'a a'])
        expect(await listed({ statuses: ['completed', 'failed'] })).toEqual(['b b'])
        expect(await listed({ statuses: [] })).toEqual([])
        const ofType = (type: string) => idsIn(ledger, (tx) => tx.task.oldest({ type }, 9, 0))
        expect(await ofType('fix')).toEqual(['a', 'b'])
        expect(await ofType('other')).toEqual([])
        const [first] = await ledger.read((tx) => tx.team.list({}, 1, 1))
        expect(first?.team).toEqual(await ledger.read((tx) => tx.team.get('b')))
        expect(first?.task).toEqual(await ledger.read((tx) => tx.task.get('b')))
      },
    )

    proves('unclosed returns the teams of completed tasks until they are closed, by age', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'open')
        yield* insertTeam(tx, 'a', settled('completed'))
        yield* insertTeam(tx, 'failed', settled('failed'))
        yield* insertTeam(tx, 'closed', settled('completed'), { closedAt: someTime })
        yield* insertTeam(tx, 'b', settled('completed'))
      })
      const unclosed = (limit: number) => ledger.read((tx) => tx.team.unclosed(limit))
      expect(await unclosed(9)).toEqual([
        { taskId: 'a', seq: 2 },
        { taskId: 'b', seq: 5 },
      ])
      expect(await unclosed(1)).toEqual([{ taskId: 'a', seq: 2 }])
      await write(ledger, (tx) => tx.team.save(teamRow({ taskId: 'a', branch: 'a', closedAt: someTime })))
      expect(await unclosed(9)).toEqual([{ taskId: 'b', seq: 5 }])
      await write(ledger, (tx) => tx.team.insertStint(stintAt('b', 'ann')))
      expect(await unclosed(9)).toEqual([])
    })

    proves('countByType counts teams by type and outcome, with the duration of completed ones', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'a', settled('completed', 10), { type: 'fix' })
        yield* insertTeam(tx, 'b', settled('completed', 30), { type: 'fix' })
        yield* insertTeam(tx, 'c', settled('failed'), { type: 'fix' })
        yield* insertTeam(tx, 'd', {}, { type: 'fix' })
        yield* insertTeam(tx, 'e', settled('canceled'))
        yield* insertTeam(tx, 'gone', { ...settled('completed'), deletedAt: someTime })
        yield* insertTeam(tx, 'f', {}, { type: 'audit' })
      })
      const none = { completed: 0, failed: 0, canceled: 0, completedMs: 0 }
      expect(await ledger.read((tx) => tx.team.countByType())).toEqual([
        { ...none, type: 'audit', total: 1 },
        { type: 'fix', total: 4, completed: 2, failed: 1, canceled: 0, completedMs: 40 },
        { ...none, type: null, total: 1, canceled: 1 },
      ])
    })

    proves('the objectives of a team are listed by number', async (ledger) => {
      const second = objectiveRow({ taskId: 'a', number: 2, description: `it's "so"` })
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'a')
        yield* insertTeam(tx, 'b')
        yield* tx.team.insertObjective(second)
        yield* tx.team.insertObjective(objectiveRow({ taskId: 'b' }))
        yield* tx.team.insertObjective(objectiveRow({ taskId: 'a' }))
      })
      const changed = {
        ...second,
        status: 'blocked',
        agentId: 'ann',
        notes: 'no key',
        updatedAt: someTime + 1,
      } as const
      await write(ledger, (tx) => tx.team.saveObjective({ ...changed, description: 'in other words' }))
      expect(await ledger.read((tx) => tx.team.objectives('a'))).toEqual([
        objectiveRow({ taskId: 'a' }),
        { ...changed, description: 'in other words' },
      ])
      expect(await ledger.read((tx) => tx.team.objectives('c'))).toEqual([])
      for (const wrong of [
        objectiveRow({ taskId: 'a' }),
        objectiveRow({ taskId: 'a', number: 0 }),
        objectiveRow({ taskId: 'missing' }),
        objectiveRow({ taskId: 'b', number: 3, status: 'later' as 'todo' }),
      ]) {
        const refused = write(ledger, (tx) => tx.team.insertObjective(wrong))
        await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
    })
  })

  describe('a stint', () => {
    proves('S2-014 an agent may have several stints on a task, but only one at a time', async (ledger) => {
      const first = stintAt('a', 'ann', { role: 'lead', objectives: [1, 3], workerId: 'w', joinedAt: someTime - 1 })
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'a')
        yield* insertTeam(tx, 'b')
        yield* insertStints(tx, first, stintAt('b', 'ann'), stintAt('a', 'bob'))
      })
      const second = stintAt('a', 'ann', { number: 2, joinedAt: someTime - 9 })
      const refused = write(ledger, (tx) => tx.team.insertStint(second))
      await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      const left: StintRecord = { ...first, ...ended, summary: `it's "done"`, objectives: [1] }
      await write(ledger, (tx) => tx.team.saveStint(left))
      await write(ledger, (tx) => tx.team.insertStint(second))
      expect(await ledger.read((tx) => tx.team.stints('a'))).toEqual([left, stintAt('a', 'bob'), second])
      expect(await ledger.read((tx) => tx.team.activeStints('a'))).toEqual([stintAt('a', 'bob'), second])
      expect(await ledger.read((tx) => tx.team.latestStint('a', 'ann'))).toEqual(second)
      expect(await ledger.read((tx) => tx.team.latestStint('a', 'carol'))).toBe(undefined)
      for (const wrong of [
        stintAt('a', 'ann', { ...ended }),
        stintAt('a', 'dan', { number: 0 }),
        stintAt('a', 'dan', { leftAt: someTime }),
        stintAt('a', 'dan', { status: 'completed' }),
        stintAt('a', 'dan', { ...ended, status: 'asleep' as 'completed' }),
        stintAt('missing', 'dan', { branch: 'a' }),
      ]) {
        const odd = write(ledger, (tx) => tx.team.insertStint(wrong))
        await expect(odd).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
    })

    proves(
      'a stint is found by its worker while it is active, and is abandoned when the worker has settled',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* insertTeam(tx, 'a')
          for (const id of ['done', 'failed', 'left', 'live']) {
            yield* tx.task.insert(
              taskRow({ id, ...(id === 'live' ? {} : settled(id === 'failed' ? 'failed' : 'completed')) }),
            )
          }
          yield* insertStints(
            tx,
            stintAt('a', 'outside'),
            stintAt('a', 'failed', { workerId: 'failed' }),
            stintAt('a', 'live', { workerId: 'live' }),
            stintAt('a', 'left', { workerId: 'left', ...ended }),
            stintAt('a', 'done', { workerId: 'done' }),
            stintAt('a', 'purged', { workerId: 'no longer there' }),
          )
        })
        const agentOf = async (worker: string) => (await ledger.read((tx) => tx.team.stintOfWorker(worker)))?.agentId
        expect(await agentOf('live')).toBe('live')
        expect(await agentOf('left')).toBe(undefined)
        expect(await agentOf('outside')).toBe(undefined)
        const abandoned = async (limit: number) =>
          (await ledger.read((tx) => tx.team.abandoned(limit))).map(({ agentId }) => agentId)
        expect(await abandoned(9)).toEqual(['failed', 'done', 'purged'])
        expect(await abandoned(1)).toEqual(['failed'])
      },
    )

    proves(
      'the timeline of an agent lists its stints from the latest on, with their tasks and teams',
      async (ledger) => {
        await write(ledger, function* (tx) {
          for (const id of ['a', 'b']) yield* insertTeam(tx, id)
          yield* insertTeam(tx, 'gone', { deletedAt: someTime })
          yield* insertStints(
            tx,
            stintAt('a', 'ann', ended),
            stintAt('b', 'ann', { objectives: [2], role: 'lead' }),
            stintAt('b', 'bob'),
            stintAt('gone', 'ann'),
            stintAt('a', 'ann', { number: 2, joinedAt: 1 }),
          )
        })
        const timeline = async (agent: string, limit = 9, offset = 0) =>
          (await ledger.read((tx) => tx.team.timeline(agent, limit, offset))).map(({ stint }) => nameOf(stint))
        expect(await timeline('ann')).toEqual(['a ann 2', 'b ann 1', 'a ann 1'])
        expect(await timeline('ann', 1, 1)).toEqual(['b ann 1'])
        expect(await timeline('missing')).toEqual([])
        const [, second] = await ledger.read((tx) => tx.team.timeline('ann', 9, 0))
        expect(second).toEqual({
          stint: (await ledger.read((tx) => tx.team.stints('b')))[0],
          task: await ledger.read((tx) => tx.task.get('b')),
          team: await ledger.read((tx) => tx.team.get('b')),
        })
      },
    )
  })

  describe('a purge of a team task', () => {
    proves('takes its objectives and stints along; what was learned stays, with its record', async (ledger) => {
      await write(ledger, function* (tx) {
        for (const id of ['old', 'kept']) {
          yield* insertTeam(tx, id, settled('completed', id === 'old' ? 0 : 99))
          yield* insertTeam(tx, `${id}-child`, { parentId: id, ...settled('completed', 0) })
          for (const taskId of [id, `${id}-child`]) {
            yield* tx.team.insertObjective(objectiveRow({ taskId }))
            yield* tx.team.insertStint(stintAt(taskId, 'ann'))
            yield* tx.observation.insert(observationRow({ id: `o ${taskId}`, taskId, branch: taskId }))
            yield* tx.fact.insert(factRow({ id: `f ${taskId}`, taskId, branch: taskId }))
            yield* tx.consolidation.insert(consolidationRow({ id: `c ${taskId}`, taskId, sourceBranch: taskId }))
            yield* tx.consolidation.decide(decisionRow({ consolidationId: `c ${taskId}`, factId: `f ${taskId}` }))
          }
        }
      })
      expect(await purged(ledger, someTime + 50)).toEqual({ families: 1, tasks: 2 })
      const left = (taskId: string) => ledger.read((tx) => remains(tx, taskId))
      const memory = { branch: true, observation: true, found: true, run: true, decisions: 1 }
      for (const id of ['old', 'old-child']) {
        expect(await left(id)).toEqual({ team: false, objectives: 0, stints: 0, ...memory })
      }
      for (const id of ['kept', 'kept-child']) {
        expect(await left(id)).toEqual({ team: true, objectives: 1, stints: 1, ...memory })
      }
      expect((await timelineOf(ledger)).length).toBe(2)
    })

    proves(
      'waits for what is still to be made of its memory: agents whose task has ended, teams to be closed',
      async (ledger) => {
        await write(ledger, function* (tx) {
          yield* insertTeam(tx, 'unclosed', settled('completed', 0))
          yield* insertTeam(tx, 'left', settled('canceled', 0))
          yield* tx.task.insert(taskRow({ id: 'worker', parentId: 'left', ...settled('completed', 0) }))
          yield* tx.team.insertStint(stintAt('left', 'ann', { workerId: 'worker' }))
          yield* insertTeam(tx, 'outside', settled('completed', 0))
          yield* tx.team.insertStint(stintAt('outside', 'ann'))
          yield* insertTeam(tx, 'failed', settled('failed', 0))
        })
        const purge = () => purged(ledger, someTime + 50)
        const teams = ['unclosed', 'left', 'outside', 'failed']
        const left = () =>
          ledger.read(function* (tx) {
            const there: string[] = []
            for (const id of teams) if ((yield* tx.team.get(id)) !== undefined) there.push(id)
            return there
          })
        await purge()
        expect(await left()).toEqual(['unclosed', 'left'])
        await write(ledger, function* (tx) {
          const team = yield* tx.team.get('unclosed')
          if (team !== undefined) yield* tx.team.save({ ...team, closedAt: someTime })
          const stint = yield* tx.team.latestStint('left', 'ann')
          if (stint !== undefined) yield* tx.team.saveStint({ ...stint, status: 'completed', leftAt: someTime })
        })
        await purge()
        expect(await left()).toEqual([])
      },
    )

    proves('never makes a team look as if it were to be closed', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* insertTeam(tx, 'old', settled('completed', 0))
        yield* tx.team.insertStint(stintAt('old', 'ann'))
        yield* begun(tx, someTime + 50)
      })
      const unclosed: unknown[] = []
      for (let isMore = true; isMore; ) {
        isMore = await write(ledger, (tx) => tx.purge.remove(['old'], 1))
        unclosed.push(...(await ledger.read((tx) => tx.team.unclosed(9))))
      }
      expect(unclosed).toEqual([])
      expect(await ledger.read((tx) => tx.task.get('old'))).toBe(undefined)
    })
  })
}

const timelineOf = (ledger: Ledger) => ledger.read((tx) => tx.team.timeline('ann', 9, 0))

function* remains(tx: Reads, taskId: string) {
  return {
    team: (yield* tx.team.get(taskId)) !== undefined,
    objectives: (yield* tx.team.objectives(taskId)).length,
    stints: (yield* tx.team.stints(taskId)).length,
    branch: (yield* tx.branch.get(taskId))?.taskId === taskId,
    observation: (yield* tx.observation.get(`o ${taskId}`)) !== undefined,
    found: (yield* tx.fact.search([taskId], ['tests'], 9))[0]?.fact.taskId === taskId,
    run: (yield* tx.consolidation.get(`c ${taskId}`)) !== undefined,
    decisions: (yield* tx.consolidation.decisionsOn(`f ${taskId}`, 9)).length,
  }
}
