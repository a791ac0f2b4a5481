// Groups of real processes: ended as a whole, found again when whoever started them has died, and never mistaken for
// somebody else's. Every process started here is ended by the test that started it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  describeProcessGroup,
  isAlive,
  type ProcessGroup,
  processGroupOf,
  reclaim,
  terminate,
} from '../../src/executors/process-group.ts'
import {
  linuxProcessTable,
  type ProcessTable,
  psProcessTable,
  systemProcessTable,
} from '../../src/executors/process-table.ts'

const onLinux = process.platform === 'linux'
const started: ChildProcess[] = []
let marks = 0

/** Starts a script as a group of its own; resolves when it has printed its first line. It may go on with `read`. */
async function startGroup(script: string, environment: Record<string, string> = {}) {
  const mark = `ERRAND_CALL_ID=call-${process.pid}-${marks++}`
  const env = { ...process.env, ERRAND_CALL_ID: mark.split('=')[1], ...environment }
  const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'], env })
  started.push(leader)
  const [line] = (await once(createInterface(leader.stdout!), 'line')) as [string]
  const group = await describeProcessGroup(leader.pid!, mark)
  return { leader, line, group: group! }
}

async function isRunning(pid: number): Promise<boolean> {
  const entry = await systemProcessTable.get(pid)
  return entry !== undefined && !entry.zombie
}

afterEach(() => {
  for (const { pid } of started.splice(0)) {
    try {
      process.kill(-pid!, 'SIGKILL')
    } catch (error) {
      expect(error).toHaveProperty('code', 'ESRCH')
    }
  }
})

describe('terminate', () => {
  it('ends every member, and resolves when all are gone', async () => {
    const { group, line } = await startGroup('(sleep 1000 & echo $!; wait) & wait')
    expect(await isAlive(group)).toBe(true)
    await terminate(group, { graceMs: 5000 })
    expect(await isAlive(group)).toBe(false)
    expect(await isRunning(Number(line))).toBe(false)
  })

  it('kills what does not end when asked to', async () => {
    const { group, leader } = await startGroup('trap "" TERM; echo ready; while :; do sleep 1000; done')
    const exited = once(leader, 'exit')
    await terminate(group, { graceMs: 30 })
    expect(await exited).toEqual([null, 'SIGKILL'])
    expect(await isAlive(group)).toBe(false)
  })

  it('asks once, however often it looks', async () => {
    const { group, leader } = await startGroup('trap "echo asked" TERM; echo ready; until read -r go; do :; done')
    const lines: string[] = []
    createInterface(leader.stdout!).on('line', (line) => lines.push(line))
    let looks = 0
    const list = () => {
      if (++looks === 8) leader.stdin!.end('go\n')
      return systemProcessTable.list()
    }
    await terminate(group, { graceMs: 5000, processTable: { ...systemProcessTable, list } })
    expect(looks).toBeGreaterThanOrEqual(8)
    expect(lines).toEqual(['asked'])
  })

  it.runIf(onLinux)('ends what was put into a group of its own by `timeout` or a shell with job control', async () => {
    const { group, line } = await startGroup('timeout 1000 sh -c "echo \\$\\$; sleep 1000" & wait')
    expect((await linuxProcessTable.get(Number(line)))?.pgid).not.toBe(group.pgid)
    await terminate(group, { graceMs: 5000 })
    expect(await isRunning(Number(line))).toBe(false)
  })

  it('has nothing to do for a group that has gone', async () => {
    const { group, leader } = await startGroup('echo ready')
    if (leader.exitCode === null) await once(leader, 'exit')
    await terminate(group, { graceMs: 5000 })
    expect(await isAlive(group)).toBe(false)
  })
})

describe('reclaim', () => {
  it('ends an orphan and waits for its end', async () => {
    const { group, line } = await startGroup('trap "" TERM; sleep 1000 & echo $!; wait; wait')
    expect(await reclaim(group, { graceMs: 30 })).toBe('ended')
    expect(await isAlive(group)).toBe(false)
    expect(await isRunning(Number(line))).toBe(false)
    expect(await reclaim(group)).toBe('gone')
  })

  it.runIf(onLinux)('knows the members by their mark when the leader has gone', async () => {
    const { group, line } = await leaderless()
    expect(await reclaim(group)).toBe('ended')
    expect(await isRunning(Number(line))).toBe(false)
  })

  it('leaves a group alone whose leader started at another time', async () => {
    const { group } = await startGroup('echo ready; sleep 1000')
    expect(await reclaim({ ...group, startedAt: 'another time' })).toBe('gone')
    expect(await isAlive(group)).toBe(true)
  })

  it('leaves a group without a leader alone that shows another mark', async () => {
    const { group, line } = await leaderless()
    expect(await reclaim({ ...group, mark: 'ERRAND_CALL_ID=call-of-another' })).toBe('unproven')
    expect(await isRunning(Number(line))).toBe(true)
  })

  it('takes a mark for what it is only as a whole', async () => {
    const { group } = await leaderless()
    expect(await reclaim({ ...group, mark: group.mark.slice(0, -1) })).toBe('unproven')
  })

  async function leaderless(): Promise<{ group: ProcessGroup; line: string }> {
    const { group, line, leader } = await startGroup('sleep 1000 >/dev/null & echo $!; read -r go')
    leader.stdin!.end()
    await once(leader, 'exit')
    expect(await isRunning(Number(line))).toBe(true)
    return { group, line }
  }
})

describe('a process group', () => {
  it('does not count zombies as alive', async () => {
    const group: ProcessGroup = { pgid: 4242, startedAt: 'then', mark: 'A=b' }
    const zombie = { pid: 4242, pgid: 4242, sessionId: 4242, startedAt: 'then', zombie: true }
    const processTable: ProcessTable = { list: async () => [zombie], get: async () => zombie, hasMark: () => true }
    expect(await isAlive(group, processTable)).toBe(false)
    expect(await reclaim(group, { processTable })).toBe('gone')
  })

  it('is believed to have gone only when it is missed twice', async () => {
    const member = { pid: 4243, pgid: 4242, sessionId: 4242, startedAt: 'then', zombie: false }
    const looks = [[], [member]]
    const processTable = { ...systemProcessTable, list: async () => looks.shift() ?? [] }
    expect(await isAlive({ pgid: 4242, startedAt: 'then', mark: 'A=b' }, processTable)).toBe(true)
  })

  it('is read back from the details of a call, and nothing else is taken for one', async () => {
    const group = { pgid: 4242, startedAt: 'then', mark: 'A=b' }
    expect(processGroupOf(JSON.parse(JSON.stringify({ processGroup: group })))).toEqual(group)
    for (const pgid of [-1, 0, 1, 1.5, '4242', null])
      expect(processGroupOf({ processGroup: { ...group, pgid } })).toBeUndefined()
    for (const details of [null, undefined, {}, 'text', { processGroup: null }])
      expect(processGroupOf(details)).toBeUndefined()
  })

  it('is not described for a process that leads none', async () => {
    const child = spawn('sleep', ['1000'])
    expect(await describeProcessGroup(child.pid!, 'A=b')).toBeUndefined()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await describeProcessGroup(child.pid!, 'A=b')).toBeUndefined()
  })
})

describe('the process table', () => {
  it.runIf(onLinux)('reads names with spaces and parentheses', async () => {
    const { leader } = await startGroup('printf "a) b (1 2" > /proc/$$/comm; echo ready; read -r go')
    const entry = await linuxProcessTable.get(leader.pid!)
    expect(entry).toMatchObject({ pid: leader.pid, pgid: leader.pid, sessionId: leader.pid, zombie: false })
    expect(entry?.startedAt).toMatch(/^[0-9a-f-]{36}\/\d+$/)
  })

  const hasPs = spawnSync('ps', ['-A', '-o', 'lstart=']).status === 0
  it.runIf(hasPs)('is read by `ps` where there is no /proc, and a group can be ended by it', async () => {
    const { group: onProc, leader } = await startGroup('echo ready; sleep 1000')
    const group = (await describeProcessGroup(leader.pid!, onProc.mark, psProcessTable))!
    expect(group.startedAt).toMatch(/\d\d:\d\d:\d\d \d{4}$/)
    vi.stubEnv('TZ', 'Asia/Tokyo')
    expect(await describeProcessGroup(leader.pid!, onProc.mark, psProcessTable)).toEqual(group)
    vi.unstubAllEnvs()
    expect(await reclaim({ ...group, startedAt: 'another time' }, { processTable: psProcessTable })).toBe('gone')
    expect(await reclaim(group, { processTable: psProcessTable })).toBe('ended')
    expect(await psProcessTable.get(leader.pid!)).toBeUndefined()
  })
})
