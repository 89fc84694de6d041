import type { ConnectionProfile } from '../connections/profile.ts';
import type { Log } from '../ports.ts';
import type { Session, SessionFactory } from './session.ts';

export class RunnerProcess implements SessionFactory {
  constructor(_program: string, _log: Log) {}

  open(_id: string, _profile: ConnectionProfile, _secret: string | null): Promise<Session> {
    return Promise.reject(new Error('not connected'));
  }

  dispose(): void {}
}
