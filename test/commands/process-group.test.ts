// Groups of real processes: ended as a whole, found again when their starter has died, and never mistaken for foreign
// ones. Every process started here is ended by its test.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  describeProcessGroup,
  type EndOptions,
  isAlive,
  killAtOnce,
  type ProcessGroup,
  processGroupOf,
  reclaimAll,
  terminate,
} from '../../src/commands/process-group.ts'
import type { CommandTrace } from '../../src/commands/process-search.ts'
import {
  linuxProcessTable,
  type ProcessEntry,
  type ProcessTable,
  psProcessTable,
  systemProcessTable,
} from '../../src/commands/process-table.ts'

const onLinux = process.platform === 'linux'
const started: ChildProcess[] = []
const marked: string[] = []
let marks = 0

/** Starts a script as a group of its own; resolves when it has printed its first line. It must not end before that: `read` waits for the test. */
async function startGroup(script: string, environment: Record<string, string> = {}) {
  const mark = `ERRAND_CALL_ID=call-${process.pid}-${marks++}`
  const env = { ...process.env, ERRAND_CALL_ID: mark.split('=')[1], ...environment }
  const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'pipe', 'ignore'], env })
  started.push(leader)
  marked.push(mark)
  const lines = createInterface(leader.stdout!)[Symbol.asyncIterator]()
  const nextLine = async () => (await lines.next()).value as string
  const line = await nextLine()
  const group = await describeProcessGroup(leader.pid!, mark)
  if (group === undefined) throw new Error(`The script ended before its group was described: ${script}`)
  return { leader, line, nextLine, group }
}

const reclaim = async (trace: CommandTrace, options?: Partial<EndOptions>) => (await reclaimAll([trace], options))[0]

/** Larger than any pid: a signal to it reaches no process. */
const noPid = 2 ** 22 + 1
const fakeGroup: ProcessGroup = { pgid: noPid, startedAt: 'then', mark: 'ERRAND_CALL_ID=call-fake', place: 'h' }
const fakeEntry = (changes: Partial<ProcessEntry> = {}): ProcessEntry => {
  return { pid: noPid, ppid: 1, pgid: noPid, sessionId: noPid, startedAt: 'then', zombie: false, ...changes }
}

/** A table with the processes of each reading; the last one is repeated. */
function fakeTable(...looks: Array<ProcessEntry[] | Error>) {
  let looked = 0
  const processTable: ProcessTable = {
    async list() {
      const look = looks[Math.min(looked++, looks.length - 1)] as ProcessEntry[] | Error
      if (look instanceof Error) throw look
      return look
    },
    get: async () => undefined,
    environment: () => [],
  }
  return { processTable, looked: () => looked }
}

/** A clock whose timers fire at once, and the delays that they were set for. */
function hastyClock() {
  const pauses: number[] = []
  const setTimeout = (fire: () => void, ms: number) => {
    pauses.push(ms)
    queueMicrotask(fire)
  }
  return { clock: { now: () => 0, setTimeout, clearTimeout: () => {} }, pauses }
}

async function isRunning(pid: number): Promise<boolean> {
  const entry = await systemProcessTable.get(pid)
  return entry !== undefined && !entry.zombie
}

afterEach(async () => {
  // Processes that have left their session, if a test has failed to end them.
  await reclaimAll(
    marked.splice(0).map((mark) => ({ mark })),
    { graceMs: 0 },
  )
  for (const { pid } of started.splice(0)) {
    try {
      process.kill(-pid!, 'SIGKILL')
    } catch (error) {
      expect(error).toHaveProperty('code', 'ESRCH')
    }
  }
})

describe('terminate', () => {
  it('terminate ends every process of a group, and resolves when all have ended', async () => {
    const { group, line } = await startGroup('(sleep 1000 & echo $!; wait) & wait')
    expect(await isAlive(group)).toBe(true)
    await terminate(group, { graceMs: 5000 })
    expect(await isAlive(group)).toBe(false)
    expect(await isRunning(Number(line))).toBe(false)
  })

  it('terminate kills a process that does not end after TERM', async () => {
    const { group, leader } = await startGroup('trap "" TERM; echo ready; while :; do sleep 1000; done')
    const exited = once(leader, 'exit')
    await terminate(group, { graceMs: 30 })
    expect(await exited).toEqual([null, 'SIGKILL'])
    expect(await isAlive(group)).toBe(false)
  })

  it('terminate sends TERM once, however often it searches', async () => {
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

  it.runIf(onLinux)(
    'terminate ends processes that `timeout` or a shell with job control put into a group of their own',
    async () => {
      const { group, line } = await startGroup('timeout 1000 sh -c "echo \\$\\$; sleep 1000" & wait')
      expect((await linuxProcessTable.get(Number(line)))?.pgid).not.toBe(group.pgid)
      await terminate(group, { graceMs: 5000 })
      expect(await isRunning(Number(line))).toBe(false)
    },
  )

  it.runIf(onLinux)(
    'terminate ends processes that left the session of the command, however their parents ended',
    async () => {
      const { group, line } = await startGroup('(setsid sh -c "echo \\$\\$; exec sleep 1000" &); read -r go')
      expect((await linuxProcessTable.get(Number(line)))?.sessionId).toBe(Number(line))
      await terminate(group, { graceMs: 5000 })
      expect(await isRunning(Number(line))).toBe(false)
      expect(await isAlive(group)).toBe(false)
    },
  )

  it.runIf(onLinux)('terminate ends processes that left the session when everything in it has ended', async () => {
    const { group, line, leader } = await startGroup('setsid sh -c "echo \\$\\$; exec sleep 1000" & read -r go')
    leader.stdin!.end()
    await once(leader, 'exit')
    expect(await isAlive(group)).toBe(true)
    await terminate(group, { graceMs: 5000 })
    expect(await isRunning(Number(line))).toBe(false)
  })

  it.runIf(onLinux)(
    'terminate ends a child without the mark while its parent lives, and waits for its end',
    async () => {
      const child = 'trap "" TERM; echo $$; while :; do sleep 1000; done'
      const { group, line } = await startGroup(`setsid env -i /bin/sh -c '${child}' & wait`)
      await terminate(group, { graceMs: 30 })
      expect(await isRunning(Number(line))).toBe(false)
    },
  )

  it.runIf(onLinux)(
    'terminate sends TERM to an engine inside the command, and lets it end its own commands',
    async () => {
      const { group, nextLine } = await startGroup(engineInside('trap "kill -9 $inner; echo engine; exit" TERM'))
      await terminate(group, { graceMs: 5000 })
      expect(await nextLine()).toBe('engine')
      expect(await isAlive(group)).toBe(false)
    },
  )

  it.runIf(onLinux)(
    'terminate sends TERM to the commands of an engine inside the command when that engine has ended',
    async () => {
      const { group, nextLine } = await startGroup(engineInside(':'))
      await terminate(group, { graceMs: 5000 })
      expect(await nextLine()).toBe('command')
      expect(await isAlive(group)).toBe(false)
    },
  )

  it.runIf(onLinux)('terminate kills the commands of an engine inside the command that does not end', async () => {
    const { group } = await startGroup(engineInside('trap "" TERM'))
    await terminate(group, { graceMs: 30 })
    expect(await isAlive(group)).toBe(false)
  })

  /** A command that starts another like an engine: with a call id and a session of its own. */
  function engineInside(first: string): string {
    const fifo = join(tmpdir(), `errand-test-${process.pid}-${marks}`)
    const inner = `trap "echo command; exit" TERM; read -r go < ${fifo}; rm ${fifo}; echo ready; while :; do sleep 0.1; done`
    const variables = 'ERRAND_OUTER_CALL_IDS="$ERRAND_CALL_ID" ERRAND_CALL_ID=call-inner'
    // The command reports that it is ready when the engine is: both have set their traps then.
    return `mkfifo ${fifo}; ${variables} setsid sh -c '${inner}' & inner=$!; ${first}; echo go > ${fifo}; while :; do sleep 0.1; done`
  }

  it('terminate waits for a process that even KILL does not end, with infrequent searches', async () => {
    const { processTable, looked } = fakeTable(...Array.from({ length: 100 }, () => [fakeEntry()]), [])
    const { clock, pauses } = hastyClock()
    await terminate(fakeGroup, { graceMs: 200, clock, processTable })
    expect(looked()).toBe(102)
    expect(pauses.slice(-40)).toEqual(Array.from({ length: 40 }, () => 1_000))
  })

  it('terminate does not take an unreadable process table for the end of the command', async () => {
    const unreadable = new Error('EMFILE: too many open files')
    const { processTable, looked } = fakeTable(unreadable, [fakeEntry()], unreadable, [])
    const { clock, pauses } = hastyClock()
    await terminate(fakeGroup, { graceMs: 5000, clock, processTable })
    expect(looked()).toBe(5)
    expect(pauses).toEqual([1_000, 100, 1_000])
  })

  it('terminate resolves at once for a group that has ended', async () => {
    const { group, leader } = await startGroup('echo ready; read _')
    leader.stdin!.end()
    await once(leader, 'exit')
    await terminate(group, { graceMs: 5000 })
    expect(await isAlive(group)).toBe(false)
  })
})

describe('reclaim', () => {
  it('reclaim ends an orphan and waits for its end', async () => {
    const { group, line } = await startGroup('trap "" TERM; sleep 1000 & echo $!; wait; wait')
    expect(await reclaim(group, { graceMs: 30 })).toBe('ended')
    expect(await isAlive(group)).toBe(false)
    expect(await isRunning(Number(line))).toBe(false)
    expect(await reclaim(group)).toBe('none')
  })

  it.runIf(onLinux)('reclaim finds the processes of a command by their mark when the leader has ended', async () => {
    const { group, line } = await leaderless()
    expect(await reclaim(group)).toBe('ended')
    expect(await isRunning(Number(line))).toBe(false)
  })

  it('reclaim leaves a group alone whose leader started at another time', async () => {
    const { group } = await startGroup('echo ready; sleep 1000')
    const mark = 'ERRAND_CALL_ID=call-of-another'
    expect(await reclaim({ ...group, mark, startedAt: 'another time' })).toBe('none')
    expect(await isAlive(group)).toBe(true)
  })

  it('reclaim leaves a group without a leader alone that has another mark', async () => {
    const { group, line } = await leaderless()
    expect(await reclaim({ ...group, mark: 'ERRAND_CALL_ID=call-of-another' })).toBe('unproven')
    expect(await isRunning(Number(line))).toBe(true)
  })

  it('reclaim matches a mark only as a whole', async () => {
    const { group } = await leaderless()
    expect(await reclaim({ ...group, mark: group.mark.slice(0, -1) })).toBe('unproven')
  })

  it.runIf(onLinux)('reclaim finds the processes of a command by its mark alone', async () => {
    const { group, line } = await startGroup('(setsid sh -c "echo \\$\\$; exec sleep 1000" &); read -r go')
    expect(await reclaim({ mark: `${group.mark}-not` })).toBe('none')
    expect(await reclaim({ mark: group.mark })).toBe('ended')
    expect(await isAlive(group)).toBe(false)
    expect(await isRunning(Number(line))).toBe(false)
  })

  it.runIf(onLinux)(
    'reclaim ends processes that left a session whose number a foreign process has by now',
    async () => {
      const { group, line } = await startGroup('setsid sh -c "echo \\$\\$; exec sleep 1000" & read -r go')
      const outsider = await startGroup('echo ready; sleep 1000')
      const [bootId, ticks] = group.startedAt.split('/')
      const before = `${bootId}/${Number(ticks) - 1}`
      expect(await reclaim({ ...group, pgid: outsider.group.pgid, startedAt: before })).toBe('ended')
      expect(await isRunning(Number(line))).toBe(false)
      expect(await isAlive(outsider.group)).toBe(true)
    },
  )

  it.runIf(onLinux)(
    'reclaim leaves processes alone that only share a group with a process of the command',
    async () => {
      const mark = 'ERRAND_CALL_ID=call-borrowed'
      const script = `sleep 1000 & echo $!; env ${mark} sh -c 'echo $$; sleep 1000' & wait`
      const outsider = await startGroup(script)
      const borrower = await outsider.nextLine()
      expect(await reclaim({ mark })).toBe('ended')
      expect(await isRunning(Number(borrower))).toBe(false)
      expect(await isRunning(Number(outsider.line))).toBe(true)
      expect(await isRunning(outsider.leader.pid!)).toBe(true)
    },
  )

  it.runIf(onLinux)('reclaimAll reclaims many commands like one, and returns the outcome of each', async () => {
    const [first, second] = [await startGroup('echo ready; sleep 1000'), await startGroup('echo ready; sleep 1000')]
    const outcomes = await reclaimAll([first.group, { mark: 'ERRAND_CALL_ID=call-unknown' }, second.group])
    expect(outcomes).toEqual(['ended', 'none', 'ended'])
    expect([await isAlive(first.group), await isAlive(second.group)]).toEqual([false, false])
  })

  it('reclaim reads the process table twice for all ended commands, not for each', async () => {
    const { processTable, looked } = fakeTable([fakeEntry({ pid: noPid + 1, pgid: 1, sessionId: 1 })])
    const traces = Array.from({ length: 200 }, (_, index) => ({ mark: `ERRAND_CALL_ID=call-${index}` }))
    expect(new Set(await reclaimAll(traces, { processTable }))).toEqual(new Set(['none']))
    expect(looked()).toBe(2)
  })

  it('reclaim names the process that it could not end, after it has ended all the others', async () => {
    const { group } = await startGroup('echo ready; sleep 1000')
    const { clock } = hastyClock()
    const list = async () => [fakeEntry(), ...(await systemProcessTable.list())]
    const processTable = { ...systemProcessTable, list }
    await expect(reclaimAll([fakeGroup, group], { clock, processTable })).rejects.toThrow(
      `These processes of the command with ${fakeGroup.mark} still run 2000 ms after SIGKILL: ${noPid}.`,
    )
    expect(await isAlive(group)).toBe(false)
  })

  it('reclaim does not end a command that the current process is part of', async () => {
    const { processTable } = fakeTable([fakeEntry({ pid: process.pid, ppid: noPid }), fakeEntry()])
    await expect(reclaim(fakeGroup, { processTable })).rejects.toThrow('it belongs to the command')
  })

  async function leaderless(): Promise<{ group: ProcessGroup; line: string }> {
    const { group, line, leader } = await startGroup('sleep 1000 >/dev/null & echo $!; read -r go')
    leader.stdin!.end()
    await once(leader, 'exit')
    expect(await isRunning(Number(line))).toBe(true)
    return { group, line }
  }
})

describe('the processes of a command', () => {
  it('a process group that consists of zombies does not count as alive', async () => {
    const { processTable } = fakeTable([fakeEntry({ zombie: true })])
    expect(await isAlive(fakeGroup, processTable)).toBe(false)
    expect(await reclaim(fakeGroup, { processTable })).toBe('none')
  })

  it('a process group counts as ended only when it was missed twice', async () => {
    const { processTable } = fakeTable([], [fakeEntry({ pid: noPid + 1 })])
    expect(await isAlive(fakeGroup, processTable)).toBe(true)
  })

  it('a process group does not count as ended while a process is in execve and shows no environment', async () => {
    const { processTable } = fakeTable([fakeEntry({ pid: noPid + 1, pgid: noPid + 1, sessionId: noPid + 1 })])
    const environments = [undefined, undefined, [fakeGroup.mark]]
    const environment = () => environments.shift()
    expect(await isAlive(fakeGroup, { ...processTable, environment })).toBe(true)
  })

  it('a search for a process group does not read the environments of processes started before its leader', async () => {
    const read: number[] = []
    const environment = (pid: number) => {
      read.push(pid)
      return []
    }
    const others = [99, 100, 101].map((ticks) => {
      return fakeEntry({ pid: noPid + ticks, pgid: 1, sessionId: 1, startedAt: `boot/${ticks}` })
    })
    const { processTable } = fakeTable(others)
    const isGroupAlive = (startedAt: string) => isAlive({ ...fakeGroup, startedAt }, { ...processTable, environment })
    expect(await isGroupAlive('boot/100')).toBe(false)
    expect(new Set(read)).toEqual(new Set([noPid + 100, noPid + 101]))
    read.length = 0
    expect(await isGroupAlive('earlier boot/100')).toBe(false)
    expect(read).toEqual([])
  })

  it('killAtOnce kills a group and what has left it at once, for a process that cannot wait', async () => {
    const { group, leader } = await startGroup('trap "" TERM; setsid sleep 1000 & echo ready; wait')
    const exited = once(leader, 'exit')
    await killAtOnce([group])
    expect(await exited).toEqual([null, 'SIGKILL'])
    await vi.waitFor(async () => expect(await isAlive(group)).toBe(false))
  })

  it('processGroupOf reads a process group from the details of a call, and refuses everything else', async () => {
    const group = { pgid: 4242, startedAt: 'then', mark: 'A=b', place: 'h' }
    expect(processGroupOf(JSON.parse(JSON.stringify({ processGroup: group })))).toEqual(group)
    for (const pgid of [-1, 0, 1, 1.5, '4242', null])
      expect(processGroupOf({ processGroup: { ...group, pgid } })).toBeUndefined()
    for (const details of [null, undefined, {}, 'text', { processGroup: null }])
      expect(processGroupOf(details)).toBeUndefined()
  })

  it('describeProcessGroup describes no group for a process that leads none', async () => {
    const child = spawn('sleep', ['1000'])
    expect(await describeProcessGroup(child.pid!, 'A=b')).toBeUndefined()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await describeProcessGroup(child.pid!, 'A=b')).toBeUndefined()
  })
})

describe('the process table', () => {
  it.runIf(onLinux)('the process table reads names of processes with spaces and parentheses', async () => {
    const { leader } = await startGroup('printf "a) b (1 2" > /proc/$$/comm; echo ready; read -r go')
    const entry = await linuxProcessTable.get(leader.pid!)
    expect(entry).toMatchObject({ pid: leader.pid, pgid: leader.pid, sessionId: leader.pid, zombie: false })
    expect(entry?.startedAt).toMatch(/^[0-9a-f-]{36}\/\d+$/)
  })

  const hasPs = spawnSync('ps', ['-A', '-o', 'lstart=']).status === 0
  it.runIf(hasPs)(
    'the process table is read by `ps` where there is no /proc, and suffices to end a group',
    async () => {
      const { group: onProc, leader } = await startGroup('echo ready; sleep 1000')
      const group = (await describeProcessGroup(leader.pid!, onProc.mark, psProcessTable))!
      expect(group.startedAt).toMatch(/\d\d:\d\d:\d\d \d{4}$/)
      vi.stubEnv('TZ', 'Asia/Tokyo')
      expect(await describeProcessGroup(leader.pid!, onProc.mark, psProcessTable)).toEqual(group)
      vi.unstubAllEnvs()
      expect(await reclaim({ ...group, startedAt: 'another time' }, { processTable: psProcessTable })).toBe('none')
      expect(await reclaim(group, { processTable: psProcessTable })).toBe('ended')
      expect(await psProcessTable.get(leader.pid!)).toBeUndefined()
    },
  )
})
