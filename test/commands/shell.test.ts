// The `shell` executor against a run that records its requests: results, live output, and above all that nothing runs
// before its group is noted and nothing is left when the call is over.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { maxStoredLines, maxTailBytes } from '../../src/commands/command-output.ts'
import { maxFileBytes } from '../../src/commands/output-file.ts'
import { isAlive, type ProcessGroup, processGroupOf } from '../../src/commands/process-group.ts'
import { shell } from '../../src/commands/shell.ts'
import { placeOfProcess } from '../../src/core/process-place.ts'

import { daemon, failureOf, isRunning, onLinux, setup, statOf } from './shell-world.ts'

describe('a shell command', () => {
  it('a shell command returns its output and its exit code', async () => {
    const { execute } = setup()
    expect(await execute('echo out; echo err >&2; printf "no end"')).toEqual({
      exitCode: 0,
      signal: null,
      stdout: 'out\nno end',
      stderr: 'err\n',
      truncated: false,
    })
  })

  it('a shell command is one call, identified in later runs by the command and its folder, without other options', async () => {
    const { execute, calls, folder } = setup()
    await execute({ run: 'true', cwd: folder, env: { TOKEN: 'secret' }, shell: '/bin/sh' })
    await execute('true')
    expect(calls).toEqual([
      { name: 'shell', params: { command: 'true', cwd: folder }, options: undefined },
      { name: 'shell', params: { command: 'true', cwd: null }, options: undefined },
    ])
    expect(shell.onInterrupt).toBe('rerun')
  })

  it('a shell command fails with EXIT_CODE and its last lines on stderr', async () => {
    const failure = await failureOf(setup().execute('echo begun; echo first >&2; echo "no such thing" >&2; exit 3'))
    expect(failure).toMatchObject({ code: 'EXIT_CODE', retry: true })
    expect(failure.details).toEqual({ exitCode: 3, signal: null, stdout: 'begun\n', stderr: 'first\nno such thing\n' })
    expect(failure.message).toMatch(/exited with code 3\. Last on stderr: first\nno such thing$/)
    expect(failure.message).toContain('`echo begun;')
  })

  it('a shell command fails with its last lines on stdout when stderr is empty', async () => {
    expect((await failureOf(setup().execute('echo "1 test failed"; exit 1'))).message).toContain(
      'stdout: 1 test failed',
    )
    expect((await failureOf(setup().execute('exit 1'))).message).toBe(
      '`exit 1` exited with code 1. It printed nothing.',
    )
  })

  it('a shell command fails as SIGNALED when a signal ends it', async () => {
    const failure = await failureOf(setup().execute('kill -s KILL $$'))
    expect(failure).toMatchObject({ code: 'SIGNALED', details: { exitCode: 137, signal: 'SIGKILL' } })
    expect(failure.message).toContain('was ended by SIGKILL')
  })

  it('a shell command fails with the exit code of the shell when the command does not exist', async () => {
    expect(await failureOf(setup().execute('no-such-program'))).toMatchObject({
      code: 'EXIT_CODE',
      details: { exitCode: 127 },
    })
  })

  it('a shell command reads its stdin, which is empty without one', async () => {
    const { execute } = setup()
    const stdin = 'grün\n'.repeat(50_000)
    expect((await execute({ run: 'wc -c', stdin, shell: '/bin/sh' })).stdout.trim()).toBe(
      String(Buffer.byteLength(stdin)),
    )
    expect((await execute('wc -c')).stdout.trim()).toBe('0')
    expect((await execute({ run: 'true', stdin, shell: '/bin/sh' })).exitCode).toBe(0)
  })

  it('a shell command runs in the given folder and shell', async () => {
    const { execute, folder } = setup()
    expect((await execute({ run: 'pwd -P', cwd: folder, shell: 'sh' })).stdout).toContain(folder.split('/').at(-1))
    vi.stubEnv('SHELL', '/bin/sh')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await execute({ run: 'echo $0' })).stdout).toBe('/bin/sh\n')
  })

  it.runIf(onLinux).each(['Bun', 'Deno'])(
    'a shell command under %s is connected by what the runtime itself makes, because it could not read other pipes',
    async (name) => {
      onTestFinished(() => void vi.unstubAllGlobals())
      vi.stubGlobal(name, {})
      const result = await setup().execute({ run: 'stat -Lc %F /dev/fd/1; cat >&2', stdin: 'text', shell: '/bin/sh' })
      expect(result).toMatchObject({ stdout: 'socket\n', stderr: 'text' })
    },
  )

  it('a shell command may open /dev/stdin, /dev/stdout and /dev/stderr by name', async () => {
    const result = await setup().execute({ run: 'cat /dev/stdin | tee /dev/stderr', stdin: 'text', shell: '/bin/sh' })
    expect(result).toMatchObject({ stdout: 'text', stderr: 'text' })
  })

  it.runIf(onLinux)('a shell command runs without a folder for temporary files', async () => {
    const { execute } = setup()
    vi.stubEnv('TMPDIR', '/nowhere')
    onTestFinished(() => void vi.unstubAllEnvs())
    const result = await execute({ run: 'cat; echo err >&2', stdin: 'text', shell: '/bin/sh' })
    expect(result).toMatchObject({ stdout: 'text', stderr: 'err\n' })
  })

  it('a shell command does not inherit the gate', async () => {
    expect((await setup().execute('if (: <&3) 2>/dev/null; then echo open; else echo closed; fi')).stdout).toBe(
      'closed\n',
    )
  })

  it('a shell command finds its task and the results before it in its environment', async () => {
    const { execute, context } = setup({
      ledger: '/srv/errand.db',
      dependencies: [
        { name: 'line count', result: { exitCode: 0, stdout: '42\n' } },
        { name: 'choice', result: { colour: 'green' } },
      ],
    })
    const variables =
      'echo "$ERRAND_TASK_ID $ERRAND_CALL_ID $ERRAND_LEDGER $ERRAND_RESULT_line_count $ERRAND_RESULT_choice $MINE"'
    const { stdout } = await execute({ run: variables, env: { MINE: 'mine' }, shell: '/bin/sh' })
    expect(stdout).toBe(`task-1 ${context.callId} /srv/errand.db 42 {"colour":"green"} mine\n`)
  })

  it('V-10 a shell command gets a secret that its env refers to, and its output does not show it', async () => {
    vi.stubEnv('DEPLOY_KEY', 'ab$c[d].*-efgh')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { execute, text } = setup()
    const input = {
      run: 'printf %s "$KEY"; echo; echo "$KEY" >&2; echo ${#KEY}',
      env: { KEY: { secret: 'DEPLOY_KEY' } },
    }
    const result = await execute({ ...input, shell: '/bin/sh' })
    expect(result).toMatchObject({ stdout: '[secret DEPLOY_KEY]\n14\n', stderr: '[secret DEPLOY_KEY]\n' })
    expect(text()).not.toContain('efgh')
    const failure = await failureOf(execute({ ...input, run: 'echo "no $KEY" >&2; exit 1', shell: '/bin/sh' }))
    expect(JSON.stringify([failure.message, failure.details])).not.toContain('efgh')
    expect(failure.message).toContain('no [secret DEPLOY_KEY]')
  })

  it('V-10 a shell command has no variable of the process by default but the usual ones', async () => {
    vi.stubEnv('OF_THE_USER', 'of-the-user')
    onTestFinished(() => void vi.unstubAllEnvs())
    const look = { run: 'echo "$OF_THE_USER $PATH"', shell: '/bin/sh' }
    expect((await setup().execute(look)).stdout).toBe(` ${process.env['PATH']}\n`)
    expect((await setup({ inheritEnv: true }).execute(look)).stdout).toBe(`of-the-user ${process.env['PATH']}\n`)
  })

  it('V-10 a shell command does not start without a secret that it refers to, and fails with NO_SECRET', async () => {
    const { execute, folder, notes } = setup()
    const input = { run: `echo > ${folder}/ran`, env: { KEY: { secret: 'NO_SUCH_SECRET' } }, shell: '/bin/sh' }
    const failure = await failureOf(execute(input))
    expect(failure).toMatchObject({ code: 'NO_SECRET', retry: false })
    expect(failure.details).toEqual({ variable: 'KEY', secret: 'NO_SUCH_SECRET' })
    expect(failure.message).toContain('Set NO_SUCH_SECRET where that engine is started')
    expect([notes, existsSync(join(folder, 'ran'))]).toEqual([[], false])
  })

  it('a shell command may depend on many large results', async () => {
    const dependencies = Array.from({ length: 20 }, (_, index) => ({
      name: `r${index}`,
      result: 'x'.repeat(1_000_000),
    }))
    expect((await setup({ dependencies }).execute('printf %s "$ERRAND_RESULT_r0" | wc -c')).stdout.trim()).toBe('98304')
  })
})

describe('the output of a command', () => {
  it('the output of a command is streamed line by line, in whole characters, and stored', async () => {
    const { execute, emitted } = setup()
    await execute('printf "gr\\303"; printf "\\274n\\n\\nlast"')
    expect(emitted).toEqual([
      { text: 'grün\n', store: true, stream: 'stdout' },
      { text: '\n', store: true, stream: 'stdout' },
      { text: 'last\n', store: true, stream: 'stdout' },
    ])
  })

  it('the output of a command says what came on stderr', async () => {
    const { execute, emitted } = setup()
    await execute('echo wrong >&2')
    expect(emitted).toEqual([{ text: 'wrong\n', store: true, stream: 'stderr' }])
  })

  it('the output of a command is streamed while the command runs', async () => {
    const { execute, folder, text } = setup()
    const running = execute(`echo ready; mkfifo ${folder}/go; read -r line < ${folder}/go; echo "$line"`)
    await vi.waitFor(() => expect(text()).toBe('ready\n'))
    await vi.waitFor(() => expect(existsSync(`${folder}/go`)).toBe(true))
    const go = spawn('/bin/sh', ['-c', `echo went > ${folder}/go`])
    expect((await running).stdout).toBe('ready\nwent\n')
    if (go.exitCode === null) await once(go, 'exit')
  })

  it('the result of a command says that it is cut as soon as a byte is missing, and its file holds all', async () => {
    const { execute, folder } = setup()
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const print = (bytes: number) => execute(`head -c ${bytes} /dev/zero | tr '\\0' x`)
    const whole = await print(maxTailBytes)
    expect([whole.truncated, 'stdoutFile' in whole]).toEqual([false, false])
    for (const bytes of [maxTailBytes + 1, 2 * maxTailBytes, 5 * maxTailBytes]) {
      const cut = await print(bytes)
      expect([cut.truncated, cut.stdout.length]).toEqual([true, maxTailBytes])
      expect(readFileSync(cut.stdoutFile as string, 'utf8')).toBe('x'.repeat(bytes))
    }
    await failureOf(execute('seq 1 100000; exit 1'))
    expect(readdirSync(folder).filter((name) => name.startsWith('errand-output-'))).toHaveLength(3)
  })

  it('the whole output of a command is kept beside the ledger, without secrets, and the next command finds it', async () => {
    vi.stubEnv('LONG_KEY', 'ab$c[d].*-efgh')
    onTestFinished(() => void vi.unstubAllEnvs())
    const first = setup()
    const ledger = join(first.folder, 'ledger.db')
    const printing = setup({ ledger })
    const result = await printing.execute({
      run: 'echo "$KEY"; seq 1 100000',
      env: { KEY: { secret: 'LONG_KEY' } },
      shell: '/bin/sh',
    })
    expect(result.stdoutFile).toBe(join(`${ledger}-outputs`, printing.context.callId))
    const read =
      'head -n 1 "$ERRAND_RESULT_FILE_list"; tail -n 1 "$ERRAND_RESULT_FILE_list"; echo "${ERRAND_RESULT_FILE_short-unset}"'
    const dependencies = [
      { name: 'list', result },
      { name: 'short', result: { stdout: 'x', truncated: false } },
    ]
    const next = await setup({ ledger, dependencies }).execute(read)
    expect(next.stdout).toBe('[secret LONG_KEY]\n100000\nunset\n')
  })

  it('the file of a long output holds its beginning, and a line that says that more was printed', async () => {
    const { execute, folder } = setup()
    const { stdoutFile } = await setup({ ledger: join(folder, 'ledger.db') }).execute(
      `head -c ${maxFileBytes + 1000} /dev/zero`,
    )
    expect((await execute(`tail -c 40 ${stdoutFile}; wc -c < ${stdoutFile}`)).stdout).toMatch(
      /What follows is not kept\.\n671089\d\d\n$/,
    )
  })

  it.each(['file', 'link'])(
    'a command whose output cannot be written to a file, because a %s is in place of its folder, completes, and the next one gets an empty path',
    async (what) => {
      const { folder } = setup()
      const ledger = join(folder, 'ledger.db')
      const elsewhere = join(folder, 'elsewhere')
      mkdirSync(elsewhere)
      if (what === 'file') writeFileSync(`${ledger}-outputs`, '')
      else symlinkSync(elsewhere, `${ledger}-outputs`)
      const result = await setup({ ledger }).execute('seq 1 100000')
      expect(result).toMatchObject({ exitCode: 0, truncated: true, stdoutFile: null })
      expect(readdirSync(elsewhere)).toEqual([])
      for (const given of [result, { ...result, stdoutFile: '/etc/passwd' }]) {
        const { execute } = setup({ ledger, dependencies: [{ name: 'list', result: given }] })
        expect((await execute('echo "path: $ERRAND_RESULT_FILE_list"')).stdout).toBe('path: \n')
      }
    },
  )

  it('a result that is longer than its variable is in a file while the command runs', async () => {
    const dependencies = [{ name: 'text', result: 'x'.repeat(1_000_000) }]
    const { stdout } = await setup({ dependencies }).execute(
      'wc -c < "$ERRAND_RESULT_FILE_text"; echo "$ERRAND_RESULT_FILE_text"',
    )
    const [length, path] = stdout.split('\n')
    expect([Number(length), existsSync(path as string)]).toEqual([1_000_000, false])
  })

  it('the output of a command is bounded, whatever its length', async () => {
    const { execute, emitted } = setup()
    const lines = 60_000
    const { stdout, truncated } = await execute(`yes 0123456789 | head -n ${lines}; echo end`)
    expect(truncated).toBe(true)
    expect(Buffer.byteLength(stdout)).toBe(maxTailBytes)
    expect(stdout.endsWith('0123456789\nend\n')).toBe(true)
    expect(emitted.filter((one) => one.store)).toHaveLength(maxStoredLines + 1)
    const live = emitted.filter((one) => !one.store)
    expect(
      live
        .map((one) => one.text)
        .join('')
        .split('\n'),
    ).toHaveLength(lines + 1 - maxStoredLines + 1)
    expect(live.length).toBeLessThan(5000)
  })

  it('the output of a command contains no NUL, which no ledger could store', async () => {
    expect((await setup().execute('printf "a\\000b"')).stdout).toBe('a\uFFFDb')
  })

  it('the output of a command ends the command when its output is refused', async () => {
    const refusal = new Error('the run has ended')
    const { execute, group } = setup({
      emit: () => {
        throw refusal
      },
    })
    await expect(execute('echo ready; sleep 1000')).rejects.toBe(refusal)
    expect(await isAlive(group())).toBe(false)
  })
})

describe('a command that cannot be started', () => {
  it('a command that cannot be started fails with SPAWN_FAILED when its folder is missing', async () => {
    const { execute, notes } = setup()
    const failure = await failureOf(execute({ run: 'true', cwd: '/nowhere/at/all', shell: '/bin/sh' }))
    expect(failure).toMatchObject({ code: 'SPAWN_FAILED', retry: false })
    expect(failure.message).toBe('Cannot start `true`: its working directory /nowhere/at/all does not exist.')
    expect(notes).toEqual([])
  })

  it('a command that cannot be started fails with SPAWN_FAILED when its folder is a file', async () => {
    expect((await failureOf(setup().execute({ run: 'true', cwd: '/dev/null' }))).message).toContain(
      'is not a directory',
    )
  })

  it('a command that cannot be started fails with SPAWN_FAILED when its shell is missing', async () => {
    for (const name of ['/nowhere/shell', 'no-such-shell']) {
      const failure = await failureOf(setup().execute({ run: 'true', shell: name }))
      expect(failure).toMatchObject({ code: 'SPAWN_FAILED', retry: false })
      expect(failure.message).toContain(`its shell ${name} does not exist`)
    }
  })

  it('a command that cannot be started fails with SPAWN_FAILED when the command is too long', async () => {
    const failure = await failureOf(setup().execute(`: ${'x'.repeat(3_000_000)}`))
    expect(failure).toMatchObject({ code: 'SPAWN_FAILED', retry: false })
    expect(failure.message).toMatch(/^Cannot start `: x{198}…`: the command or its environment exceeds/)
  })
})

describe('an aborted command', () => {
  it('an aborted command ends with all its descendants before the call rejects with the reason of the abort', async () => {
    const { execute, controller, text, group } = setup()
    const running = execute('(sleep 1000 & echo $!; wait) & wait')
    await vi.waitFor(() => expect(text()).toMatch(/^\d+\n$/))
    const reason = new Error('canceled')
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
    expect(await isRunning(Number(text()))).toBe(false)
    expect(await isAlive(group())).toBe(false)
  })

  it.runIf(onLinux)('an aborted command ends with descendants in a session of their own', async () => {
    const { execute, controller, text, folder } = setup()
    const running = execute(`mkfifo ${folder}/pid; ${daemon(`${folder}/pid`)} & cat ${folder}/pid; sleep 1000`)
    await vi.waitFor(() => expect(text()).toMatch(/^\d+\n$/))
    controller.abort()
    await expect(running).rejects.toHaveProperty('name', 'AbortError')
    expect(await isRunning(Number(text()))).toBe(false)
  })

  it('an aborted command is killed when it does not end after TERM', async () => {
    const { execute, controller, text, group } = setup({ killGraceMs: 30 })
    const running = execute('trap "" TERM; echo ready; while :; do sleep 1000; done')
    await vi.waitFor(() => expect(text()).toBe('ready\n'))
    controller.abort()
    await expect(running).rejects.toHaveProperty('name', 'AbortError')
    expect(await isAlive(group())).toBe(false)
  })

  it('an aborted command may clean up, and rejects even if it then exits with 0', async () => {
    const { execute, controller, text, folder } = setup()
    // A shell that gets TERM before it has begun to sleep sleeps to the end: so it sleeps for a short while.
    const running = execute(
      `trap "echo cleaned >> ${folder}/log; exit 0" TERM; echo ready; while :; do sleep 0.1; done`,
    )
    await vi.waitFor(() => expect(text()).toBe('ready\n'))
    controller.abort()
    await expect(running).rejects.toHaveProperty('name', 'AbortError')
    expect(readFileSync(`${folder}/log`, 'utf8')).toBe('cleaned\n')
  })
})

describe('background processes of a command', () => {
  it('background processes of a command end with the command, even if they hold its output open', async () => {
    const { execute, group } = setup()
    const { stdout } = await execute('sleep 1000 & echo $!')
    expect(await isRunning(Number(stdout))).toBe(false)
    expect(await isAlive(group())).toBe(false)
  })

  it('background processes of a command may print what is pending before they end', async () => {
    const { execute } = setup()
    const untilLeaderIsGone = 'while kill -0 $$ 2>/dev/null; do :; done'
    expect((await execute(`(${untilLeaderIsGone}; echo late) & echo early`)).stdout).toBe('early\nlate\n')
  })

  it.runIf(onLinux)('background processes of a command end with the command in a session of their own', async () => {
    const { execute, folder, group } = setup()
    const { stdout } = await execute(`mkfifo ${folder}/pid; ${daemon(`${folder}/pid`)} & cat ${folder}/pid`)
    expect(await isRunning(Number(stdout))).toBe(false)
    expect(await isAlive(group())).toBe(false)
  })

  it('background processes of a command leave neither a zombie nor an open file in the engine', async () => {
    const { execute, controller } = setup()
    const files = () => readdirSync(onLinux ? '/proc/self/fd' : '/dev/fd').length
    // A server for other test files may run in this process.
    const processes = () => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length
    const others = processes()
    await execute({ run: 'true', stdin: 'unread', shell: '/bin/sh' })
    const before = files()
    for (let round = 0; round < 5; round++) {
      await execute({ run: 'true', stdin: 'unread', shell: '/bin/sh' })
      await failureOf(execute('sleep 1000 & exit 1'))
      await failureOf(execute({ run: 'true', cwd: '/nowhere' }))
    }
    const running = execute('sleep 1000')
    controller.abort()
    await expect(running).rejects.toHaveProperty('name', 'AbortError')
    await vi.waitFor(() => expect(files()).toBeLessThanOrEqual(before))
    await vi.waitFor(() => expect(processes()).toBeLessThanOrEqual(others))
    if (onLinux) expect(zombiesOf(process.pid)).toEqual([])
  })

  function zombiesOf(parent: number): string[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const stats = pids.map(statOf)
    return stats.filter((stat) => new RegExp(`\\) Z ${parent} `).test(stat))
  }
})

describe('the gate of a command', () => {
  it('the gate of a command notes the process group before anything runs', async () => {
    const seen: boolean[] = []
    const { execute, folder, group, context } = setup({ note: async () => void seen.push(existsSync(`${folder}/ran`)) })
    await execute(`touch ${folder}/ran`)
    expect(seen).toEqual([false])
    expect(existsSync(`${folder}/ran`)).toBe(true)
    expect(group()).toEqual({
      pgid: expect.any(Number),
      startedAt: expect.any(String),
      place: placeOfProcess(),
      mark: `ERRAND_CALL_ID=${context.callId}`,
    })
  })

  it('the gate of a command stays closed when the note is refused', async () => {
    const refusal = new Error('RUN_ENDED')
    const groups: ProcessGroup[] = []
    const { execute, folder } = setup({
      note: async (details) => {
        groups.push(processGroupOf(details)!)
        throw refusal
      },
    })
    await expect(execute(`touch ${folder}/ran`)).rejects.toBe(refusal)
    expect(await isAlive(groups[0]!)).toBe(false)
    expect(existsSync(`${folder}/ran`)).toBe(false)
  })

  it('the gate of a command stays closed when the run ends meanwhile', async () => {
    const world = setup({ note: async () => world.controller.abort() })
    await expect(world.execute(`touch ${world.folder}/ran`)).rejects.toHaveProperty('name', 'AbortError')
    expect(existsSync(`${world.folder}/ran`)).toBe(false)
    expect(await isAlive(world.group())).toBe(false)
  })
})
